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
using OutSteps = nb::ndarray<nb::numpy, int64_t, nb::ndim<1>>;

constexpr size_t kColumns = 1024;  // of a tile; a multiple of the lanes

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

// e −= Kβ for all problems, threads sharing the columns.
template <class Entry, class Real>
void subtract(const DualSolver<Entry, Real>& solver, const Entry* K, size_t n, size_t n_problems, const Real* beta, Real* e,
              int n_threads) {
    if (std::all_of(beta, beta + n_problems * n, [](Real b) { return b == 0; })) return;
    Progress progress;
    share_work((n + kColumns - 1) / kColumns, n_threads, progress, [&] {
        return [&](size_t tile) {
            const size_t first = tile * kColumns;
            solver.subtract(K, n, first, std::min(first + kColumns, n), n_problems, beta, e);
        };
    }, check_signals);
}

// The same for starts that mostly are one common start: K times that is computed once, and what each has beside it.
template <class Entry, class Real>
void subtract_starts(const DualSolver<Entry, Real>& solver, const Entry* K, size_t n, size_t n_problems, const double* common,
                     const Real* beta, Real* e, int n_threads) {
    std::vector<Real> shared(common, common + n), shared_e(n), beside(beta, beta + n_problems * n);
    subtract(solver, K, n, 1, shared.data(), shared_e.data(), n_threads);
    for (size_t k = 0; k < n_problems; ++k)
        for (size_t i = 0; i < n; ++i) beside[k * n + i] -= shared[i], e[k * n + i] += shared_e[i];
    subtract(solver, K, n, n_problems, beside.data(), e, n_threads);
}

template <class Entry, class Real>
nb::tuple solve(Gram<Entry> K, Table target, Table low, Table high, Table ridge, Table start, Table common, bool fit_intercept,
                double tol, int64_t max_steps, const std::string& level, int n_threads) {
    const size_t n = K.shape(0), n_problems = target.shape(0), size = n * n_problems;
    for (const Table& table : {target, low, high, ridge, start})
        require(table.shape(0) == n_problems && table.shape(1) == n, "the parts of the problems do not fit together");
    require(K.shape(1) == n, "the Gram matrix is not square");
    require(common.shape(0) == 1 && common.shape(1) == n, "the common start does not fit the problems");
    auto [beta, beta_data] = make<OutTable>(n_problems, n);
    auto [left, left_data] = make<OutTable>(n_problems, n);
    auto [violation, violation_data] = make<OutVector>(n_problems);
    auto [n_steps, n_steps_data] = make<OutSteps, int64_t>(n_problems);
    double *const beta_out = beta_data, *const left_out = left_data, *const violation_out = violation_data;  // Clang before 16
    int64_t* const n_steps_out = n_steps_data;  // takes no structured binding into a lambda
    const auto& solver = solver_of<Entry, Real>(level_of(level));
    {
        nb::gil_scoped_release released;
        std::vector<Real> e(target.data(), target.data() + size), from(start.data(), start.data() + size);
        subtract_starts(solver, K.data(), n, n_problems, common.data(), from.data(), e.data(), n_threads);
        Progress progress;
        auto make_worker = [&] {
            return [&, scratch = std::make_shared<Scratch<Real>>(n, 8)](size_t k) {
                const Scratch<Real>& room = *scratch;
                Real *own_e = room[0], *curvature = room[1], *own_ridge = room[2], *up = room[3], *down = room[4], *inverse = room[5], *rise = room[6], *fall = room[7];
                const double *lo = low.data() + k * n, *hi = high.data() + k * n, *diagonal = ridge.data() + k * n;
                constexpr Real never = -std::numeric_limits<Real>::infinity();
                for (Real* may : {rise, fall}) std::fill(may + n, may + room.stride(), never);
                for (size_t i = 0; i < n; ++i) {
                    const Real b = from[k * n + i];
                    own_ridge[i] = static_cast<Real>(diagonal[i]);
                    curvature[i] = std::max(static_cast<Real>(K.data()[i * n + i]) + own_ridge[i], std::numeric_limits<Real>::min());
                    inverse[i] = 1 / curvature[i];
                    own_e[i] = e[k * n + i] - own_ridge[i] * b;
                    up[i] = std::max(static_cast<Real>(hi[i]) - b, Real(0));
                    down[i] = std::max(b - static_cast<Real>(lo[i]), Real(0));
                    rise[i] = up[i] > 0 ? Real(0) : never;
                    fall[i] = down[i] > 0 ? Real(0) : never;
                }
                const DualState<Entry, Real> state{K.data(), n, own_e, curvature, inverse, own_ridge, up, down, rise, fall, &progress.stop};
                const DualProgress end = (fit_intercept ? solver.pairs : solver.box)(state, tol, max_steps);
                violation_out[k] = end.violation;
                n_steps_out[k] = end.n_steps;
                std::copy(own_e, own_e + n, left_out + k * n);
                for (size_t i = 0; i < n; ++i)
                    beta_out[k * n + i] = up[i] < down[i] ? hi[i] - static_cast<double>(up[i]) : lo[i] + static_cast<double>(down[i]);
            };
        };
        share_work(n_problems, std::max(1, std::min<int>(n_threads, n_problems)), progress, make_worker, check_signals);
    }
    return nb::make_tuple(beta, left, violation, n_steps);
}

nb::tuple solve_single(Gram<float> K, Table target, Table low, Table high, Table ridge, Table start, Table common, bool fit_intercept,
                       double tol, int64_t max_steps, bool single, const std::string& level, int n_threads) {
    return (single ? solve<float, float> : solve<float, double>)(K, target, low, high, ridge, start, common, fit_intercept, tol, max_steps,
                                                               level, n_threads);
}

nb::tuple solve_double(Gram<double> K, Table target, Table low, Table high, Table ridge, Table start, Table common, bool fit_intercept,
                       double tol, int64_t max_steps, bool, const std::string& level, int n_threads) {
    return solve<double, double>(K, target, low, high, ridge, start, common, fit_intercept, tol, max_steps, level, n_threads);
}

// target − (K + ridge)β in double precision.
template <class Entry>
OutTable residuals(Gram<Entry> K, Table target, Table ridge, Table beta, const std::string& level, int n_threads) {
    const size_t n = K.shape(0), n_problems = target.shape(0);
    for (const Table& table : {target, ridge, beta})
        require(table.shape(0) == n_problems && table.shape(1) == n, "the parts of the problems do not fit together");
    require(K.shape(1) == n, "the Gram matrix is not square");
    auto [e, e_data] = make<OutTable>(n_problems, n);
    nb::gil_scoped_release released;
    for (size_t i = 0; i < n * n_problems; ++i) e_data[i] = target.data()[i] - ridge.data()[i] * beta.data()[i];
    subtract(solver_of<Entry, double>(level_of(level)), K.data(), n, n_problems, beta.data(), e_data, n_threads);
    return e;
}

}  // namespace

void bind_gram(nb::module_& m) {
    m.def("dual_steps", &solve_single);
    m.def("dual_steps", &solve_double);
    m.def("dual_residuals", &residuals<float>);
    m.def("dual_residuals", &residuals<double>);
}

}  // namespace textmargin
