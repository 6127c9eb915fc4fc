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
    Real* e;                // t − Kβ, what each text lacks
    const Real* curvature;  // Kᵢᵢ, above 0; of a text whose β cannot move, whose row may not be there, 1
    const Real* inverse;    // 1 / curvature
    Real *up, *down;    // how far β may rise and fall
    Real *rise, *fall;  // 0 where it may at all, else −∞
    const bool* stop;
};

template <class Entry, class Real>
struct DualSolver {
    void (*box)(const DualState<Entry, Real>&, double tol, int64_t max_steps);
    void (*pairs)(const DualState<Entry, Real>&, double tol, int64_t max_steps);
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
