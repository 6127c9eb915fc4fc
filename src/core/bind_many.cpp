// The linear solver for many classes, for Python.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>

#include "arrays.hpp"
#include "bind.hpp"
#include "levels.hpp"
#include "many.hpp"

namespace textmargin {
namespace {

template <class T, int N>
using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T, int N>
using InOut = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

const LinearLevel& linear_level(const std::string& name) {
    for (const LinearLevel* level : widest_first(linear_avx512, linear_avx2, linear_baseline))
        if (name == level->name) return *level;
    throw std::invalid_argument("this machine has no vector level '" + name + "'");
}

// A sparse matrix in single precision.
class SparseTexts {
  public:
    template <class Index>
    SparseTexts(Vector<Index> indptr, Vector<Index> indices, Vector<double> data, size_t n_columns)
        : start_(indptr.data(), indptr.data() + indptr.size()), entry_(indices.size()), n_columns_(n_columns) {
        require(indptr.size() > 0 && indices.size() == data.size() && size_t(start_.back()) == indices.size(),
                "indptr, indices and data do not fit together");
        require(start_.front() == 0 && std::is_sorted(start_.begin(), start_.end()), "indptr goes back");
        for (size_t k = 0; k < entry_.size(); ++k) {
            require(indices.data()[k] >= 0 && size_t(indices.data()[k]) < n_columns, "an index is beyond the last column");
            entry_[k] = {int32_t(indices.data()[k]), float(data.data()[k])};
        }
    }
    Entries view() const { return {start_.size() - 1, n_columns_, start_.data(), entry_.data()}; }

  private:
    std::vector<int64_t> start_;
    std::vector<Entry> entry_;
    size_t n_columns_;
};

nb::tuple fit_classes(const SparseTexts& texts, const std::string& level, In<float, 1> weight, In<int8_t, 2> sign, In<float, 2> goal,
                      In<float, 2> costs, In<float, 1> shared, In<float, 3> own, In<double, 2> pull, In<double, 2> target, double penalty,
                      InOut<float, 2> w, InOut<double, 2> q, bool warm, double tol, int max_iter, int n_threads) {
    const Entries X = texts.view();
    const size_t n = X.n_rows, T = sign.shape(0), n_extra = q.shape(1), n_shared = shared.size() ? 1 : 0;
    require(weight.size() == n && sign.shape(1) == n && goal.shape(0) == T && goal.shape(1) == n && costs.shape(0) == T &&
                costs.shape(1) == n && (n_shared == 0 || shared.size() == n) && own.shape(0) == T && own.shape(1) + n_shared == n_extra &&
                own.shape(2) == n && pull.shape(0) == T && pull.shape(1) == n_extra && target.shape(0) == T &&
                target.shape(1) == n_extra && w.shape(0) == T && w.shape(1) == X.n_columns && q.shape(0) == T && n_extra <= kMostExtra,
            "the parts of the problems do not fit together");
    const LinearLevel& loops = linear_level(level);
    auto [scores, scores_data] = make<nb::ndarray<nb::numpy, float, nb::ndim<2>>, float>(T, n);
    auto [value, value_data] = make<OutVector>(T);
    auto [gap, gap_data] = make<OutVector>(T);
    auto [n_iter, n_iter_data] = make<nb::ndarray<nb::numpy, int32_t, nb::ndim<1>>, int32_t>(T);
    auto [outcome, outcome_data] = make<nb::ndarray<nb::numpy, int8_t, nb::ndim<1>>, int8_t>(T);
    {
        nb::gil_scoped_release released;
        const Problems problems{T,           n_extra,       weight.data(), sign.data(),   goal.data(), costs.data(),
                                n_shared ? shared.data() : nullptr, own.data(),    pull.data(),   target.data(), penalty};
        const Results results{w.data(),  q.data(),    scores_data, value_data,
                              gap_data, n_iter_data, reinterpret_cast<Outcome*>(outcome_data)};
        ManyClasses(loops, X, problems, results, tol, max_iter, n_threads).run(warm, [] {
            nb::gil_scoped_acquire acquired;
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
        });
    }
    return nb::make_tuple(scores, value, gap, n_iter, outcome);
}

}  // namespace

void bind_many(nb::module_& m) {
    nb::class_<SparseTexts>(m, "SparseTexts")
        .def(nb::init<Vector<int32_t>, Vector<int32_t>, Vector<double>, size_t>())
        .def(nb::init<Vector<int64_t>, Vector<int64_t>, Vector<double>, size_t>());
    m.def("fit_classes", &fit_classes);
    m.attr("MOST_EXTRA_COLUMNS") = kMostExtra;
}

}  // namespace textmargin
