// The linear solver for many classes, for Python.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>

#include "arrays.hpp"
#include "bind.hpp"
#include "bind_texts.hpp"
#include "local_texts.hpp"

namespace textmargin {
namespace {

template <class T, int N>
using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T, int N>
using InOut = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

nb::tuple fit_classes(const SparseTexts& texts, const std::string& level, In<float, 1> weight, In<int32_t, 1> table, In<int8_t, 2> sign,
                      In<float, 2> goal, In<float, 2> costs, In<int16_t, 1> fold, In<int16_t, 1> held_out, In<float, 1> shared, In<float, 3> own, In<double, 2> pull, In<double, 2> target, double penalty,
                      InOut<float, 2> w, InOut<double, 2> q, bool warm, double tol, int max_iter, int n_threads,
                      size_t most_copied) {
    const size_t n = weight.size(), d = w.shape(1), T = w.shape(0), n_extra = q.shape(1), n_shared = shared.size() ? 1 : 0;
    const size_t n_tables = sign.shape(0);
    require(texts.view().n_rows == n && texts.view().n_columns == d && table.size() == T && sign.shape(1) == n &&
                goal.shape(0) == n_tables && goal.shape(1) == n && costs.shape(0) == n_tables && costs.shape(1) == n &&
                (fold.size() == 0 || fold.size() == n) && held_out.size() == T && (n_shared == 0 || shared.size() == n) &&
                own.shape(0) == T && own.shape(1) + n_shared == n_extra && own.shape(2) == n && pull.shape(0) == T &&
                pull.shape(1) == n_extra && target.shape(0) == T && target.shape(1) == n_extra && q.shape(0) == T &&
                n_extra <= kMostExtra,
            "the parts of the problems do not fit together");
    for (size_t k = 0; k < T; ++k) require(table.data()[k] >= 0 && size_t(table.data()[k]) < n_tables, "a class has no table");
    const LinearLevel& loops = linear_level(level);
    auto [scores, scores_data] = make<nb::ndarray<nb::numpy, float, nb::ndim<2>>, float>(T, n);
    auto [value, value_data] = make<OutVector>(T);
    auto [gap, gap_data] = make<OutVector>(T);
    auto [n_iter, n_iter_data] = make<nb::ndarray<nb::numpy, int32_t, nb::ndim<1>>, int32_t>(T);
    auto [outcome, outcome_data] = make<nb::ndarray<nb::numpy, int8_t, nb::ndim<1>>, int8_t>(T);
    {
        nb::gil_scoped_release released;
        const Problems problems{T, n_extra, weight.data(), table.data(), sign.data(), goal.data(), costs.data(),
                                fold.size() ? fold.data() : nullptr, held_out.data(), n_shared ? shared.data() : nullptr,
                                own.data(), pull.data(), target.data(), penalty};
        const Results results{w.data(),  q.data(),    scores_data, value_data,
                              gap_data, n_iter_data, reinterpret_cast<Outcome*>(outcome_data)};
        LocalTexts local(loops, texts.view(), most_copied, n_threads);
        ManyClasses(loops, local, problems, results, tol, max_iter, n_threads).run(warm, check_signals);
    }
    return nb::make_tuple(scores, value, gap, n_iter, outcome);
}

}  // namespace

void bind_many(nb::module_& m) {
    m.def("fit_classes", &fit_classes);
    m.attr("MOST_EXTRA_COLUMNS") = kMostExtra;
}

}  // namespace textmargin
