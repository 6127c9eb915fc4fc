// Newton's direction for the primal SVM by conjugate gradients in the weights.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "rows.hpp"

namespace textmargin {

// The quadratic that the objective is on the active rows S, in the weights w and the coefficients of a few columns Z.
// Eliminating the latter leaves, in w alone, M = Z'CZ + diag(ρ),
//   downhill  −λw + X_S'(C e + CZ M⁻¹ g)
//   Hessian    λI + X_S'(C − CZ M⁻¹ Z'C)X_S
struct Quadratic {
    double penalty;                  // λ
    std::span<const double> costs;   // c, one per active row
    std::span<const double> errors;  // e = y∘shortfall, one per active row
    const double* CZ;                // row-major, n_extra wide
    const double* M_inverse;         // n_extra × n_extra
    const double* gradient_extra;    // g, the gradient in the coefficients of Z
    size_t n_extra;
};

struct Direction {
    std::vector<double> extra;  // Newton's direction in the coefficients of Z
    double decrement;           // twice the decrease that the quadratic promises
};

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
    return sum;
}

// Fills p, one place per column of the matrix, with Newton's direction in w to a relative precision.  A column that no
// active row touches meets only the penalty: there p = −w, exactly.  Preconditioned by the diagonal of λI + X_S'CX_S.
template <class Rows>
Direction cg_direction(const Rows& X, const Quadratic& Q, std::span<const double> w, double precision, int max_steps,
                       std::span<double> p_out) {
    const size_t n = X.size(), k = Q.n_extra, d = X.columns().size();
    const auto columns = X.columns();

    std::vector<double> through(k);  // M⁻¹ v
    auto eliminate = [&](const double* v) {
        for (size_t a = 0; a < k; ++a) {
            through[a] = 0.0;
            for (size_t b = 0; b < k; ++b) through[a] += Q.M_inverse[a * k + b] * v[b];
        }
    };
    auto CZ_times_through = [&](size_t i) {
        double sum = 0.0;
        for (size_t a = 0; a < k; ++a) sum += Q.CZ[i * k + a] * through[a];
        return sum;
    };

    std::vector<double> residual(d), diagonal(d, Q.penalty);
    for (size_t j = 0; j < d; ++j) residual[j] = -Q.penalty * w[columns[j]];
    eliminate(Q.gradient_extra);
    for (size_t i = 0; i < n; ++i)
        X.add(i, Q.costs[i] * Q.errors[i] + CZ_times_through(i), residual.data(), Q.costs[i], diagonal.data());
    const std::vector<double> downhill = residual;

    std::vector<double> p(d, 0.0), direction(d), image(d), u(n), Xp(n, 0.0), z(k);
    double norm = 0.0;
    for (size_t j = 0; j < d; ++j) {
        diagonal[j] = 1.0 / diagonal[j];
        direction[j] = residual[j] * diagonal[j];
        norm += residual[j] * direction[j];
    }
    const double enough = precision * precision * norm;
    for (int step = 0; step < max_steps && norm > enough; ++step) {
        std::fill(z.begin(), z.end(), 0.0);
        for (size_t i = 0; i < n; ++i) {
            u[i] = X.dot(i, direction.data());
            for (size_t a = 0; a < k; ++a) z[a] += Q.CZ[i * k + a] * u[i];
        }
        eliminate(z.data());
        for (size_t j = 0; j < d; ++j) image[j] = Q.penalty * direction[j];
        for (size_t i = 0; i < n; ++i) X.add(i, Q.costs[i] * u[i] - CZ_times_through(i), image.data());
        const double t = norm / dot(direction, image);
        for (size_t i = 0; i < n; ++i) Xp[i] += t * u[i];
        const double previous = norm;
        norm = 0.0;
#pragma omp simd reduction(+ : norm)
        for (size_t j = 0; j < d; ++j) {
            p[j] += t * direction[j];
            residual[j] -= t * image[j];
            norm += residual[j] * residual[j] * diagonal[j];
        }
        for (size_t j = 0; j < d; ++j) direction[j] = residual[j] * diagonal[j] + (norm / previous) * direction[j];
    }

    Direction result{std::vector<double>(k), dot(downhill, p)};
    double untouched = 0.0;  // Σ w² over the columns where p = −w
#pragma omp simd reduction(+ : untouched)
    for (size_t j = 0; j < w.size(); ++j) {
        p_out[j] = -w[j];
        untouched += w[j] * w[j];
    }
    for (size_t j = 0; j < d; ++j) {
        p_out[columns[j]] = p[j];
        untouched -= w[columns[j]] * w[columns[j]];
    }
    result.decrement += Q.penalty * std::max(untouched, 0.0);
    std::copy_n(Q.gradient_extra, k, z.begin());
    eliminate(z.data());
    for (size_t a = 0; a < k; ++a) result.decrement += z[a] * through[a];
    for (size_t i = 0; i < n; ++i)
        for (size_t a = 0; a < k; ++a) z[a] += Q.CZ[i * k + a] * Xp[i];
    eliminate(z.data());
    for (size_t a = 0; a < k; ++a) result.extra[a] = -through[a];
    return result;
}

}  // namespace textmargin
