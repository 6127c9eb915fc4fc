// How far to go along a direction, and how to move the columns Z meanwhile, for one class among many: what `search.hpp` finds over
// all texts, looked for on those texts alone that can miss their margin on the way.
//     minimise over θ   g'θ + ½θ'Aθ + ½ Σᵢ cᵢ max(0, aᵢ − (Dθ)ᵢ)²,     D = y∘[move, Z],  a = shortfall
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "linear.hpp"
#include "search.hpp"

namespace textmargin {

struct Plane {
    size_t n_variables;
    bool moves;  // whether there is a direction; else the first variable stays at 0
    std::array<double, kMostVariables> g{};
    std::array<double, kMostVariables * kMostVariables> A{};  // n_variables wide
    double constant = 0;                                      // the objective's penalties where θ = 0
    double enough = 0;                                        // a gain not worth another round
    double enough_share = 0;                                  // the same, of the objective
};

// The texts that count for the search, one array after the other.
class Candidates {
  public:
    // None yet, of at most so many.
    void clear(size_t n_variables, size_t most) {
        n_variables_ = n_variables, n_ = 0, room_ = most + SearchRows::kTogether;
        if (values_.size() < (2 + n_variables) * room_) values_.resize((2 + n_variables) * room_);
    }
    void add(double shortfall, double cost, const double* D) {
        values_[n_] = shortfall, values_[room_ + n_] = cost;
        for (size_t v = 0; v < n_variables_; ++v) values_[(2 + v) * room_ + n_] = D[v];
        ++n_;
    }
    SearchRows rows() {
        static constexpr double nothing[kMostVariables] = {};
        while (n_ % SearchRows::kTogether) add(0, 0, nothing);
        SearchRows found{n_, n_variables_, values_.data(), values_.data() + room_, {}};
        for (size_t v = 0; v < n_variables_; ++v) found.D[v] = values_.data() + (2 + v) * room_;
        return found;
    }

  private:
    size_t n_variables_ = 0, n_ = 0, room_ = 0;
    std::vector<double> values_;
};

struct Minimum {
    std::array<double, kMostVariables> theta{};
    double value = std::numeric_limits<double>::infinity();
};

// Newton's method from θ = (1, 0, ...) where there is a direction; a step that does not pay is halved.
inline Minimum minimise(const LinearLevel& level, const Plane& plane, const SearchRows& texts) {
    const size_t V = plane.n_variables;
    Minimum best;
    std::array<double, kMostVariables> theta{};
    theta[0] = plane.moves ? 1.0 : 0.0;
    std::vector<double> step(V, 0.0), H(V * V, 0.0);
    for (int round = 0; round < 60; ++round) {
        const SearchSums sums = level.search(texts, theta.data());
        double value = plane.constant + 0.5 * sums.loss, gradient[kMostVariables];
        for (size_t v = 0; v < V; ++v) {
            double bent = 0;
            for (size_t u = 0; u < V; ++u) bent += plane.A[v * V + u] * theta[u];
            gradient[v] = plane.g[v] + bent - sums.pushed[v];
            value += theta[v] * (plane.g[v] + 0.5 * bent);
        }
        if (value > best.value) {  // back half way
            double left = 0;
            for (size_t v = 0; v < V; ++v) step[v] /= 2, theta[v] -= step[v], left += std::abs(step[v]);
            if (!(left > 1e-15)) break;
            continue;
        }
        const double won = best.value - value;
        best.value = value, best.theta = theta;
        if (won <= std::max(plane.enough, plane.enough_share * value)) break;
        for (size_t v = 0; v < V; ++v) {
            step[v] = -gradient[v];
            for (size_t u = 0; u <= v; ++u) H[v * V + u] = plane.A[v * V + u] + sums.bent[v * V + u];
        }
        if (!plane.moves) {  // the first variable has no part in it
            for (size_t v = 0; v < V; ++v) H[v * V] = 0;
            step[0] = 0;
        }
        solve_small(H, step);
        for (size_t v = 0; v < V; ++v) theta[v] += step[v];
    }
    return best;
}

// Twice what the objective may still fall after a Newton step to θ that ended `residual` short of the quadratic's minimum: texts that
// changed sides were not in the quadratic, or are no longer, and elsewhere the plane's minimum is not the quadratic's. A text moves the
// scores of others no more than its own, so that its own loss bounds what it is good for.
inline double left_over(const SearchRows& texts, const Minimum& found, double residual) {
    double left = residual;
    for (size_t i = 0; i < texts.n; ++i) {
        double after = texts.shortfall[i], beside = 0;
        for (size_t v = 0; v < texts.n_variables; ++v) {
            after -= found.theta[v] * texts.D[v][i];
            beside += (found.theta[v] - (v == 0)) * texts.D[v][i];
        }
        const bool was = texts.shortfall[i] > 0;
        if (was != (after > 0)) left += texts.costs[i] * after * after;
        if (was) left += texts.costs[i] * beside * beside;
    }
    return left;
}

}  // namespace textmargin
