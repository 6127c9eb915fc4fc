// What the vector levels of `dual.cpp` share with the code that hands them work: plain data and no code, as in `engine.hpp`.
#pragma once

#include <cstddef>
#include <cstdint>

namespace textmargin {

// One problem over the Gram matrix K (n × n, symmetric).  The vectors have room for n rounded up to a multiple of 16, start at
// a multiple of 64 bytes, and behind n `rise` and `fall` are −∞ and the others 0.
template <class Entry, class Real>
struct DualState {
    const Entry* K;
    size_t n;
    Real* e;                // t − (K + ridge)β, what each text lacks
    const Real* curvature;  // Kᵢᵢ + ridgeᵢ, above 0
    const Real* inverse;    // 1 / curvature
    const Real* ridge;
    Real *up, *down;    // how far β may rise and fall
    Real *rise, *fall;  // 0 where it may at all, else −∞
    const bool* stop;
};

struct DualProgress {
    int64_t n_steps;
    double violation;  // by which a margin is missed, or for pairs two texts disagree about b, that could still be mended
};

template <class Entry, class Real>
struct DualSolver {
    DualProgress (*box)(const DualState<Entry, Real>&, double tol, int64_t max_steps);
    DualProgress (*pairs)(const DualState<Entry, Real>&, double tol, int64_t max_steps);
    // e −= Kβ on some columns, for all problems; beta and e are (n_problems, n).
    void (*subtract)(const Entry* K, size_t n, size_t first, size_t last, size_t n_problems, const Real* beta, Real* e);
};

struct DualLevel {
    const char* name;
    DualSolver<float, float> single;
    DualSolver<float, double> mixed;
    DualSolver<double, double> twice;
};

const DualLevel& dual_baseline();
const DualLevel& dual_avx2();
const DualLevel& dual_avx512();

}  // namespace textmargin
