// Linear SVMs of many classes over one sparse matrix, by Newton's method, all classes in step.
//
//     per class, minimise over w, q   ½λ‖w‖² + ½ Σᵢ cᵢ max(0, mᵢ − yᵢfᵢ)² + ½ Σₖ ρₖ(qₖ − q⁰ₖ)²        f = Xw + Zq + offset
//
// A round: (1) the scores of all classes' directions in one pass over X; (2) per class the best point in the plane of its direction and
// its columns Z; (3) per class the next direction, by conjugate gradients on the active texts. Only (1) and (3) touch X, which may lie
// anywhere: they ask `Texts` (`local_texts.hpp`). Weights and scores are in single precision: a class that gets no
// further by it, `stuck`, is left to `newton.hpp`, which has double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "linear.hpp"
#include "plane.hpp"
#include "work.hpp"

namespace textmargin {

enum class Outcome : int8_t { unfinished, converged, stuck };

// The problems of a group of classes. Those that differ only in the texts they are learnt without share a table.
struct Problems {
    size_t n_classes, n_extra;
    const float* weight;      // (n_rows,), what costs are multiples of for most texts
    const int32_t* table;     // (n_classes,), which row of the next three is a class's
    const int8_t* sign;       // (n_tables, n_rows), y
    const float* goal;        // (n_tables, n_rows), my − offset, where Xw + Zq should be at least (y > 0) or at most
    const float* costs;       // (n_tables, n_rows); 0: not there
    const int16_t* fold;      // (n_rows,), of texts that some class is learnt without; null: there are none
    const int16_t* held_out;  // (n_classes,), the fold that a class is learnt without
    const float* shared;    // (n_rows,), the first column of Z for all classes; null: there is none
    const float* own;       // (n_classes, n_extra − there is a shared one, n_rows)
    const double *pull, *target;  // ρ and q⁰, (n_classes, n_extra)
    double penalty;         // λ

    // Of one class.
    struct Rows {
        const int8_t* sign;
        const float *goal, *costs;
        const int16_t* fold;
        int16_t held_out;
        float cost(size_t i) const { return fold && fold[i] == held_out ? 0.f : costs[i]; }
    };
    Rows rows(size_t k, size_t n_rows) const {
        const size_t at = size_t(table[k]) * n_rows;
        return {sign + at, goal + at, costs + at, fold, held_out[k]};
    }

    const float* column(size_t k, size_t e, size_t n_rows) const {
        if (shared && e == 0) return shared;
        const size_t n_own = n_extra - (shared ? 1 : 0);
        return own + (k * n_own + e - (shared ? 1 : 0)) * n_rows;
    }
};

struct Results {
    float* w;         // (n_classes, n_columns), where to start and where it ended
    double* q;        // (n_classes, n_extra), the same
    float* scores;    // (n_classes, n_rows), Xw + Zq at the end
    double* value;    // (n_classes,), the objective
    double* gap;      // the last decrement beside it
    int32_t* n_iter;
    Outcome* outcome;
};

// The texts of one class that miss their margin, and what its next step needs of them.
struct Active {
    std::vector<int64_t> rows;
    std::vector<float> costs, errors, Z;  // Z: n_extra columns, one after the other
    Extra extra;
    double precision;  // that its step is wanted to
};

// Runs visit(k, scratch) for some classes; Scratch is a thread's own.
template <class Scratch, class Watch, class Visit>
void each_class(const std::vector<size_t>& classes, int n_threads, const Watch& watch, const Visit& visit) {
    Progress progress;
    auto make_worker = [&] {
        return [&, scratch = Scratch()](size_t unit) mutable { visit(classes[unit], scratch); };
    };
    share_work(classes.size(), int(std::min<size_t>(n_threads, classes.size())), progress, make_worker, watch);
}

constexpr int kMaxSteps = 250;  // of conjugate gradients

// Texts: n_rows(), n_columns();
//     multiply(classes, D, out, watch)       out (n_classes, n_rows) = D X' for some classes
//     descend(classes, push, p, watch)       p (n_classes, n_columns) = A X for the rows push(k) of A
//     directions(classes, solver, watch)     solver.set_direction() for each, from solver.activate()
template <class Texts>
class ManyClasses {
  public:
    ManyClasses(const LinearLevel& level, Texts& texts, const Problems& problems, const Results& results, double tol, int max_iter,
                int n_threads)
        : level_(level), texts_(texts), n_(texts.n_rows()), d_(texts.n_columns()), problems_(problems), out_(results), tol_(tol),
          max_iter_(max_iter), n_threads_(n_threads), p_(problems.n_classes * d_), move_(problems.n_classes * n_),
          classes_(problems.n_classes) {}

    // From no weights at all, or from those in `w` and `q`.
    template <class Watch>
    void run(bool warm, const Watch& watch) {
        std::vector<size_t> alive(problems_.n_classes);
        for (size_t k = 0; k < alive.size(); ++k) alive[k] = k;
        std::fill_n(out_.scores, problems_.n_classes * n_, 0.f);
        if (warm) texts_.multiply(alive, out_.w, out_.scores, watch);
        each(alive, watch, [&](size_t k, Scratch& scratch) { begin(k, warm, scratch); });
        if (warm) texts_.directions(alive, *this, watch);
        else descend(alive, watch);
        for (int round = 0; round < max_iter_ && !alive.empty(); ++round) {
            watch();  // many short rounds are as long as a few long ones
            texts_.multiply(alive, p_.data(), move_.data(), watch);
            each(alive, watch, [&](size_t k, Scratch& scratch) { advance(k, scratch); });
            std::erase_if(alive, [&](size_t k) { return out_.outcome[k] != Outcome::unfinished; });
            if (round + 1 < max_iter_) texts_.directions(alive, *this, watch);
        }
        check(watch);
    }

    size_t n_extra() const { return problems_.n_extra; }
    double penalty() const { return problems_.penalty; }
    const float* weights(size_t k) const { return out_.w + k * d_; }
    int32_t table(size_t k) const { return problems_.table[k]; }

    // The active texts of a class, in order.
    void activate(size_t k, Active& active) const {
        auto& [rows, costs, errors, Z, extra, precision] = active;
        const size_t n_extra = problems_.n_extra;
        rows.clear(), costs.clear(), errors.clear();
        const Problems::Rows own = problems_.rows(k, n_);
        const float* scores = out_.scores + k * n_;
        for (size_t i = 0; i < n_; ++i) {
            const float error = own.goal[i] - scores[i];
            if (!(own.sign[i] * error > 0) || !(own.cost(i) > 0)) continue;
            rows.push_back(int64_t(i)), costs.push_back(own.costs[i]), errors.push_back(error);
        }
        const size_t n_active = rows.size();
        Z.resize(n_extra * n_active);
        for (size_t e = 0; e < n_extra; ++e) {
            const float* z = problems_.column(k, e, n_);
            for (size_t r = 0; r < n_active; ++r) Z[e * n_active + r] = z[rows[r]];
        }
        double M[kMostExtra * kMostExtra] = {};
        extra.n = n_extra;
        for (size_t e = 0; e < n_extra; ++e) {
            const double pull = problems_.pull[k * n_extra + e];
            extra.gradient[e] = pull * (out_.q[k * n_extra + e] - problems_.target[k * n_extra + e]);
            M[e * n_extra + e] = pull;
            for (size_t r = 0; r < n_active; ++r) {
                const double cz = double(costs[r]) * Z[e * n_active + r];
                extra.gradient[e] -= cz * errors[r];
                for (size_t f = 0; f <= e; ++f) M[e * n_extra + f] += cz * Z[f * n_active + r];
            }
        }
        invert(M, n_extra, extra.M_inverse);
        precision = std::min(kPrecision, std::sqrt(out_.gap[k]));
    }

    // Newton's direction as conjugate gradients found it: `p` and `w` on some columns, or on all (null).
    void set_direction(size_t k, const Step& step, const float* w, const float* p, const int32_t* columns, size_t n_columns) {
        Class& one = classes_[k];
        float* own = p_.data() + k * d_;
        double untouched = 0;  // a column that no active text has meets the penalty alone: there p = −w
        if (columns || n_columns == 0) {  // of no active text there is no column either, and no array of them
            const float* all = weights(k);
#pragma omp simd reduction(+ : untouched)
            for (size_t j = 0; j < d_; ++j) own[j] = -all[j], untouched += double(all[j]) * all[j];
            for (size_t j = 0; j < n_columns; ++j) untouched -= double(w[j]) * w[j], own[columns[j]] = p[j];
        } else std::copy_n(p, d_, own);
        one.decrement = step.decrement + problems_.penalty * std::max(untouched, 0.0);
        one.newton = true, one.precise = step.precise, one.residual = step.residual;
        std::copy_n(step.q, kMostExtra, one.dq);
    }

  private:
    struct Class {
        double decrement = 0, residual = 0, left = 0, dq[kMostExtra] = {};
        bool newton = false, precise = true;  // whether the direction is Newton's; and was computed as precisely as asked
        double negligible = 0;                // an objective so small counts as zero
        float largest[kMostExtra] = {};       // value of each column Z
    };

    struct Scratch {
        std::vector<float> furthest;
        Candidates candidates;
    };

    static constexpr double kNegligible = 1e-9, kPrecision = 0.1, kDrift = 1e-4, kSafety = 50, kRough = 1e-4, kNothing = 3e-7;
    static constexpr int kPatience = 12;

    template <class Watch, class Visit>
    void each(const std::vector<size_t>& classes, const Watch& watch, const Visit& visit) {
        each_class<Scratch>(classes, n_threads_, watch, visit);
    }

    // Scores were added up step by step; a class whose weights say otherwise by now was led by rounding.
    template <class Watch>
    void check(const Watch& watch) {
        std::vector<size_t> all(problems_.n_classes);
        for (size_t k = 0; k < all.size(); ++k) all[k] = k;
        texts_.multiply(all, out_.w, move_.data(), watch);
        each(all, watch, [&](size_t k, Scratch&) {
            float* fresh = move_.data() + k * n_;
            for (size_t e = 0; e < problems_.n_extra; ++e) {
                const float *z = problems_.column(k, e, n_), by = float(out_.q[k * problems_.n_extra + e]);
                for (size_t i = 0; i < n_; ++i) fresh[i] += by * z[i];
            }
            const Problems::Rows own = problems_.rows(k, n_);
            for (size_t i = 0; i < n_; ++i)
                if (own.cost(i) > 0 && !(std::abs(fresh[i] - out_.scores[k * n_ + i]) <= kDrift))  // or NaN
                    out_.outcome[k] = Outcome::stuck;
            std::copy_n(fresh, n_, out_.scores + k * n_);
        });
    }

    // The columns Z settled, and the first direction.
    void begin(size_t k, bool warm, Scratch& scratch) {
        Class& one = classes_[k];
        const size_t n = n_, n_extra = problems_.n_extra;
        out_.outcome[k] = Outcome::unfinished, out_.n_iter[k] = 0, out_.gap[k] = std::numeric_limits<double>::infinity();
        const Problems::Rows own = problems_.rows(k, n);
        double nothing = 0;  // the objective of scoring nothing at all
        for (size_t i = 0; i < n; ++i) {
            const double missed = std::max(0.0, double(own.sign[i]) * own.goal[i]);
            nothing += 0.5 * own.cost(i) * missed * missed;
        }
        one.negligible = kNegligible * nothing;
        for (size_t e = 0; e < n_extra; ++e) {
            const float* z = problems_.column(k, e, n);
            for (size_t i = 0; i < n; ++i) one.largest[e] = std::max(one.largest[e], std::abs(z[i]));
        }
        if (warm)
            for (size_t e = 0; e < n_extra; ++e) {
                const float* z = problems_.column(k, e, n);
                for (size_t i = 0; i < n; ++i) out_.scores[k * n + i] += float(out_.q[k * n_extra + e] * z[i]);
            }
        else
            std::fill_n(out_.w + k * d_, d_, 0.f), std::fill_n(out_.q + k * n_extra, n_extra, 0.0);
        search(k, false, scratch);
    }

    // Down the gradient where there are no weights yet, which is the difference of the classes' sums (Rocchio).
    template <class Watch>
    void descend(const std::vector<size_t>& classes, const Watch& watch) {
        texts_.descend(classes, [&](size_t k, size_t i) { return push(k, i); }, problems_.weight, p_.data(), watch);
        for (const size_t k : classes) {
            classes_[k].newton = false;
            std::fill_n(classes_[k].dq, kMostExtra, 0.0);
        }
    }

    double push(size_t k, size_t i) const {
        const Problems::Rows own = problems_.rows(k, n_);
        const float cost = own.cost(i);
        return cost > 0 ? cost * own.sign[i] * std::max(0.0, own.sign[i] * (double(own.goal[i]) - out_.scores[k * n_ + i])) : 0.0;
    }

    // Goes along the direction as far as is best, and looks for the next.
    void advance(size_t k, Scratch& scratch) {
        Class& one = classes_[k];
        const double before = out_.value[k];
        search(k, true, scratch);
        ++out_.n_iter[k];
        if (!std::isfinite(out_.value[k])) {
            out_.outcome[k] = Outcome::stuck;
            return;
        }
        if (one.newton) {
            const double value = std::max(before, one.negligible), gap = one.decrement > 0 ? one.decrement / value : 0.0;
            out_.gap[k] = gap;
            const bool little = gap <= tol_ || (tol_ >= kRough && kSafety * one.left <= tol_ * value);
            if (little && one.precise) {
                out_.outcome[k] = Outcome::converged;
                return;
            }
            // Nothing won is rounding's doing; far less than the half of what was promised, again and again, is for exact steps. And of
            // a direction that came out coarser than asked for, little does not say that little is left.
            const double won = before - out_.value[k];
            if (little || won <= kNothing * value || (out_.n_iter[k] >= kPatience && won < 0.01 * one.decrement)) {
                out_.outcome[k] = Outcome::stuck;
                return;
            }
        }
    }

    void search(size_t k, bool moves, Scratch& scratch) {
        Class& one = classes_[k];
        const size_t n = n_, d = d_, n_extra = problems_.n_extra;
        const Problems::Rows own = problems_.rows(k, n);
        const float* move = move_.data() + k * n;
        float *w = out_.w + k * d, *scores = out_.scores + k * n;
        const float* p = p_.data() + k * d;
        double* q = out_.q + k * n_extra;
        const Products products = level_.products(w, moves ? p : w, d);
        const double cross = moves ? products.cross : 0.0, bend = moves ? products.second : 0.0;
        const size_t V = 1 + n_extra;
        Plane plane{V, moves};
        plane.constant = 0.5 * problems_.penalty * products.first;
        plane.g[0] = problems_.penalty * cross, plane.A[0] = problems_.penalty * bend;
        const float* Z[kMostExtra] = {};
        for (size_t e = 0; e < n_extra; ++e) {
            const double pull = problems_.pull[k * n_extra + e], off = q[e] - problems_.target[k * n_extra + e], dq = moves ? one.dq[e] : 0.0;
            plane.constant += 0.5 * pull * off * off;
            plane.g[0] += pull * off * dq, plane.A[0] += pull * dq * dq;
            plane.g[1 + e] = pull * off, plane.A[(1 + e) * V + 1 + e] = pull;
            plane.A[1 + e] = plane.A[(1 + e) * V] = pull * dq;
            Z[e] = problems_.column(k, e, n);
        }
        const bool all = moves && !one.newton;
        double beside = 0;  // how far the columns Z may move a text on the way
        for (size_t e = 0; e < n_extra && moves; ++e) beside += 1.5 * std::abs(one.dq[e]) * one.largest[e];
        scratch.furthest.resize(n);
        plane.enough = all || !moves ? 0.0 : 1e-3 * std::max(1e-9 * out_.value[k], 0.5 * one.decrement);
        plane.enough_share = moves ? (all ? 1e-3 : 0.0) : 1e-9;
        level_.reach(own.sign, own.goal, scores, move, n, moves ? (all ? 0.f : 1.5f) : 0.f, scratch.furthest.data());
        Minimum minimum;
        for (double reach = 0.3;; reach *= 4) {  // texts further beyond their margin all the way are left out
            Candidates& texts = scratch.candidates;
            const auto counts = [&](size_t i) { return (all || scratch.furthest[i] > -reach - beside) && own.cost(i) > 0; };
            size_t n_counted = 0;
            for (size_t i = 0; i < n; ++i) n_counted += counts(i);
            texts.clear(V, n_counted);
            for (size_t i = 0; i < n; ++i) {
                if (!counts(i)) continue;
                const double y = own.sign[i];
                double D[kMostVariables] = {moves ? move[i] : 0.0};
                for (size_t e = 0; e < n_extra; ++e) D[0] += (moves ? one.dq[e] : 0.0) * Z[e][i], D[1 + e] = y * Z[e][i];
                D[0] *= y;
                texts.add(y * (double(own.goal[i]) - scores[i]), own.costs[i], D);
            }
            const SearchRows search_rows = texts.rows();
            minimum = minimise(level_, plane, search_rows);
            if (moves && one.newton) one.left = left_over(search_rows, minimum, one.residual);
            double shift = 0;
            for (size_t e = 0; e < n_extra; ++e) shift += std::abs(minimum.theta[1 + e]) * one.largest[e];
            if (all || reach > 1e6 || (shift < 0.9 * reach && minimum.theta[0] < 1.5 && minimum.theta[0] > -0.1)) break;
        }
        out_.value[k] = minimum.value;
        const double t = minimum.theta[0];
        if (moves) {
            const float step = float(t);
            level_.add(step, p, w, d);
            level_.add(step, move, scores, n);
        }
        for (size_t e = 0; e < n_extra; ++e) {
            const double shift = t * (moves ? one.dq[e] : 0.0) + minimum.theta[1 + e];
            q[e] += shift;
            level_.add(float(shift), Z[e], scores, n);
        }
    }

    // The inverse of a small symmetric matrix, given by its lower triangle; a column that no active row has stays where it is.
    static void invert(const double* M, size_t n, double* inverse) {
        for (size_t c = 0; c < n; ++c) {
            std::vector<double> H(M, M + n * n), unit(n, 0.0);
            unit[c] = 1;
            solve_small(H, unit);
            for (size_t r = 0; r < n; ++r) inverse[r * n + c] = unit[r];
        }
    }

    const LinearLevel& level_;
    Texts& texts_;
    const size_t n_, d_;
    const Problems& problems_;
    const Results& out_;
    const double tol_;
    const int max_iter_, n_threads_;
    std::vector<float> p_, move_;
    std::vector<Class> classes_;
};

}  // namespace textmargin
