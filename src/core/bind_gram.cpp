// Kernel SVMs over a Gram matrix, for Python.
#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <string>

#include "arrays.hpp"
#include "bind.hpp"
#include "dual.hpp"
#include "levels.hpp"
#include "work.hpp"

namespace textmargin {
namespace {

template <class Entry>
using Gram = nb::ndarray<const Entry, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class Real>
using Matrix = nb::ndarray<Real, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

const DualLevel& level_of(const std::string& name) {
    for (const DualLevel* level : widest_first(dual_avx512, dual_avx2, dual_baseline))
        if (name == level->name) return *level;
    throw std::invalid_argument("this machine has no vector level '" + name + "'");
}

template <class Entry, class Real>
const DualSolver<Entry, Real>& solver_of(const DualLevel& level) {
    if constexpr (sizeof(Entry) == 8) return level.twice;
    else if constexpr (sizeof(Real) == 8) return level.mixed;
    else return level.single;
}

void check_signals() {
    nb::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Vectors of one length for one problem, at multiples of 64 bytes.
template <class Real>
class Scratch {
  public:
    Scratch(size_t n, size_t n_vectors)
        : stride_((n + 15) / 16 * 16), room_(static_cast<Real*>(::operator new(std::max<size_t>(stride_ * n_vectors, 1) * sizeof(Real),
                                                                              std::align_val_t{64}))) {
        std::fill_n(room_.get(), stride_ * n_vectors, Real(0));
    }
    Real* operator[](size_t k) const { return room_.get() + k * stride_; }
    size_t stride() const { return stride_; }

  private:
    struct Free {
        void operator()(Real* p) const { ::operator delete(p, std::align_val_t{64}); }
    };
    size_t stride_;
    std::unique_ptr<Real, Free> room_;
};

// Steps of all problems over K from β with e = t − Kβ; both are moved. (n_problems, n) all; of K only rows of texts that may move are read.
template <class Entry, class Real>
void steps(Gram<Entry> K, Matrix<Real> e, Table low, Table high, Matrix<double> beta, bool fit_intercept, double tol, int64_t max_steps,
           const std::string& level, int n_threads) {
    const size_t n = K.shape(0), n_problems = e.shape(0);
    require(K.shape(1) == n, "the Gram matrix is not square");
    for (const auto& [rows, columns] : {std::pair{e.shape(0), e.shape(1)}, {low.shape(0), low.shape(1)}, {high.shape(0), high.shape(1)},
                                        {beta.shape(0), beta.shape(1)}})
        require(rows == n_problems && columns == n, "the parts of the problems do not fit together");
    const auto& solver = solver_of<Entry, Real>(level_of(level));
    nb::gil_scoped_release released;
    Progress progress;
    auto make_worker = [&] {
        return [&, scratch = std::make_shared<Scratch<Real>>(n, 7)](size_t k) {
            const Scratch<Real>& room = *scratch;
            Real *own_e = room[0], *curvature = room[1], *up = room[2], *down = room[3], *inverse = room[4], *rise = room[5],
                 *fall = room[6];
            const double *lo = low.data() + k * n, *hi = high.data() + k * n;
            double* own = beta.data() + k * n;
            constexpr Real never = -std::numeric_limits<Real>::infinity();
            for (Real* may : {rise, fall}) std::fill(may + n, may + room.stride(), never);
            for (size_t i = 0; i < n; ++i) {
                own_e[i] = e.data()[k * n + i];
                curvature[i] = lo[i] < hi[i] ? std::max(static_cast<Real>(K.data()[i * n + i]), std::numeric_limits<Real>::min()) : Real(1);
                inverse[i] = 1 / curvature[i];
                up[i] = std::max(static_cast<Real>(hi[i] - own[i]), Real(0));
                down[i] = std::max(static_cast<Real>(own[i] - lo[i]), Real(0));
                rise[i] = up[i] > 0 ? Real(0) : never;
                fall[i] = down[i] > 0 ? Real(0) : never;
            }
            const DualState<Entry, Real> state{K.data(), n, own_e, curvature, inverse, up, down, rise, fall, &progress.stop};
            (fit_intercept ? solver.pairs : solver.box)(state, tol, max_steps);
            std::copy(own_e, own_e + n, e.data() + k * n);
            for (size_t i = 0; i < n; ++i)
                own[i] = up[i] < down[i] ? hi[i] - static_cast<double>(up[i]) : lo[i] + static_cast<double>(down[i]);
        };
    };
    share_work(n_problems, std::max(1, std::min<int>(n_threads, n_problems)), progress, make_worker, check_signals);
}

}  // namespace

void bind_gram(nb::module_& m) {
    m.def("dual_steps", &steps<float, float>);
    m.def("dual_steps", &steps<float, double>);
    m.def("dual_steps", &steps<double, double>);
}

}  // namespace textmargin
