// Exact search in the plane of a direction and the columns Z: a problem of a handful of variables over all texts.
//
// A Newton direction moves the weights and, with them, the intercept and the trust in the priors.  How far to go:
//     minimise over θ   g'θ + ½θ'Aθ + ½ Σᵢ cᵢ max(0, aᵢ − (Dθ)ᵢ)²,     D = y∘[move, Z],  a = shortfall
// Searching the plane, not just the line, matters when classes are skewed: the intercept that is best for this very
// step leaves most of the larger class outside the margin, so the next step works on hundreds of texts, not thousands.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace textmargin {

// Solves H x = b in place of b for a small positive semi-definite H (row-major); a variable that changes nothing,
// alone or beside those before it, stays at zero.
inline void solve_small(std::vector<double> H, std::vector<double>& b) {
    const size_t k = b.size();
    std::vector<bool> idle(k, false);
    for (size_t i = 0; i < k; ++i) {  // LDL', pivots in place
        const double size = H[i * k + i];
        for (size_t m = 0; m < i; ++m)
            if (!idle[m]) H[i * k + i] -= H[i * k + m] * H[i * k + m] * H[m * k + m];
        idle[i] = !(H[i * k + i] > 1e-13 * size);
        for (size_t r = i + 1; r < k && !idle[i]; ++r) {
            for (size_t m = 0; m < i; ++m)
                if (!idle[m]) H[r * k + i] -= H[r * k + m] * H[i * k + m] * H[m * k + m];
            H[r * k + i] /= H[i * k + i];
        }
    }
    for (size_t i = 0; i < k; ++i) {
        if (idle[i]) b[i] = 0.0;
        for (size_t m = 0; m < i; ++m)
            if (!idle[m] && !idle[i]) b[i] -= H[i * k + m] * b[m];
    }
    for (size_t i = k; i-- > 0;) {
        if (idle[i]) continue;
        b[i] /= H[i * k + i];
        for (size_t r = i + 1; r < k; ++r)
            if (!idle[r]) b[i] -= H[r * k + i] * b[r];
    }
}

// The step t > 0 where the slope of t·linear + ½t²·bend + ½Σc max(0, a − t·move)² is within ±slack.
inline double search_line(std::span<const double> a, const std::vector<double>& move, std::span<const double> costs,
                          double linear, double bend, double slack) {
    double t = 1.0, low = 0.0, high = std::numeric_limits<double>::infinity();
    for (int step = 0; step < 60; ++step) {
        double pushed = 0.0, weighed = 0.0;
#pragma omp simd reduction(+ : pushed, weighed)
        for (size_t i = 0; i < a.size(); ++i) {
            const double left = a[i] - t * move[i];  // −∞ for a text that does not count
            const double missed = left > 0 ? left : 0.0, weight = left > 0 ? costs[i] * move[i] : 0.0;
            pushed += weight * missed;
            weighed += weight * move[i];
        }
        const double slope = linear + t * bend - pushed, curvature = bend + weighed;
        if (std::abs(slope) <= slack) break;
        (slope > 0 ? high : low) = t;
        t -= slope / curvature;
        if (!(t > low && t < high)) t = std::isinf(high) ? 2 * low : 0.5 * (low + high);
    }
    return t;
}

// Moves `shortfall` to a − Dθ and returns θ.  `stayed` tells whether one full step did it and changed no row's side:
// then the quadratic that the direction came from was exact.
inline std::vector<double> search_plane(std::span<double> shortfall, std::span<const double> y, std::span<const double> costs,
                                        std::span<const double> direction, const double* Z, size_t n_extra,
                                        const double* g, const double* A, bool& stayed) {
    const size_t n = y.size(), n_moves = direction.empty() ? 0 : 1, k = n_extra + n_moves;
    std::vector<double> D(k * n);  // by columns
    for (size_t i = 0; i < n && n_moves; ++i) D[i] = y[i] * direction[i];
    for (size_t e = 0; e < n_extra; ++e)
        for (size_t i = 0; i < n; ++i) D[(n_moves + e) * n + i] = y[i] * Z[i * n_extra + e];

    std::vector<double> theta(k, 0.0), gradient(k), H(k * k), step(k), move(n);
    stayed = false;
    double won = 0.0;
    for (int round = 0; round < 30; ++round) {
        for (size_t r = 0; r < k; ++r) {
            gradient[r] = g[r];
            for (size_t s = 0; s < k; ++s) gradient[r] += A[r * k + s] * theta[s];
        }
        std::copy(A, A + k * k, H.begin());
        for (size_t i = 0; i < n; ++i) {
            if (!(shortfall[i] > 0)) continue;
            for (size_t r = 0; r < k; ++r) {
                const double weighted = costs[i] * D[r * n + i];
                gradient[r] -= weighted * shortfall[i];
                for (size_t s = 0; s <= r; ++s) H[r * k + s] += weighted * D[s * n + i];
            }
        }
        for (size_t r = 0; r < k; ++r) step[r] = -gradient[r];
        solve_small(H, step);
        double decrement = 0.0, linear = 0.0, bend = 0.0;
        for (size_t r = 0; r < k; ++r) {
            decrement -= gradient[r] * step[r];
            linear += g[r] * step[r];
            for (size_t s = 0; s < k; ++s) {
                linear += theta[s] * A[s * k + r] * step[r];
                bend += step[r] * A[r * k + s] * step[s];
            }
        }
        if (!(decrement > 1e-2 * won)) break;
        std::fill(move.begin(), move.end(), 0.0);
        for (size_t r = 0; r < k; ++r)
            for (size_t i = 0; i < n; ++i) move[i] += step[r] * D[r * n + i];
        const double t = search_line(shortfall, move, costs, linear, bend, 1e-2 * decrement);
        size_t crossed = 0;
        for (size_t i = 0; i < n; ++i) {
            const double after = shortfall[i] - t * move[i];
            crossed += (shortfall[i] > 0) != (after > 0);
            shortfall[i] = after;
        }
        for (size_t r = 0; r < k; ++r) theta[r] += t * step[r];
        won += decrement;
        if (t == 1.0 && crossed == 0) {
            stayed = round == 0;
            break;
        }
    }
    return theta;
}

}  // namespace textmargin
