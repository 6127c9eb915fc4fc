// Weights of a kernel SVM without intercept, one at a time.
//
//     minimise over a   ½ Σᵢⱼ aᵢaⱼ yᵢyⱼKᵢⱼ − Σᵢ mᵢaᵢ     0 ≤ aᵢ ≤ cᵢ
// Each step takes the weight whose own best value gains most.  short is m − y∘(Kβ), what each text lacks of its margin.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace textmargin {

// At most so many steps on a and short; returns by how much a margin is missed or exceeded that could still be mended.
inline double box_steps(const double* K, std::span<const double> y, std::span<const double> costs, double tol, size_t n_steps,
                        std::span<double> a, std::span<double> short_) {
    const size_t n = y.size();
    double worst = 0.0;
    for (size_t step = 0; step <= n_steps; ++step) {
        size_t best = 0;
        double most = -1.0, move = 0.0;
        worst = 0.0;
        for (size_t i = 0; i < n; ++i) {
            const double bend = std::max(K[i * n + i], 1e-12);
            const double by = std::clamp(a[i] + short_[i] / bend, 0.0, costs[i]) - a[i];
            if (by == 0.0) continue;
            worst = std::max(worst, std::abs(short_[i]));
            const double gain = by * (short_[i] - 0.5 * bend * by);
            if (gain > most) most = gain, best = i, move = by;
        }
        if (worst <= tol || step == n_steps) break;
        a[best] += move;
        const double* row = K + best * n;
        const double moved = move * y[best];
        for (size_t j = 0; j < n; ++j) short_[j] -= moved * y[j] * row[j];
    }
    return worst;
}

}  // namespace textmargin
