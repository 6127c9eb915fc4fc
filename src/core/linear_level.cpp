// The inner loops of the linear solver for many classes, compiled once per vector level: no function of a library that another
// level might be handed.
#include "linear.hpp"

#include <cstring>

#ifndef LEVEL
#define LEVEL baseline
#endif
#define JOIN(a, b) a##b
#define LEVEL_FUNCTION(name) JOIN(linear_, name)
#define TEXT(name) #name
#define LEVEL_NAME(name) TEXT(name)

namespace textmargin {
namespace LEVEL {

constexpr size_t kLanes = 8;
typedef float Floats __attribute__((vector_size(4 * kLanes)));

constexpr int64_t kAhead = 24;  // entries of X, to ask for rows of D before they are needed

// V vectors of classes from `from` on: an entry of X meets all of them at once.
template <int V>
void scores_of(const Entries& X, const float* D, size_t width, size_t from, size_t first, size_t last, float* out) {
    const int64_t end = X.start[X.n_rows];
    for (size_t i = first; i < last; ++i) {
        Floats sum[V] = {};
        for (int64_t k = X.start[i]; k < X.start[i + 1]; ++k) {
            if (k + kAhead < end) __builtin_prefetch(D + size_t(X.entry[k + kAhead].column) * width + from);
            const float* d = D + size_t(X.entry[k].column) * width + from;
            const float x = X.entry[k].value;
            for (int v = 0; v < V; ++v) {
                Floats part;
                std::memcpy(&part, d + v * kLanes, sizeof part);
                sum[v] += x * part;
            }
        }
        std::memcpy(out + (i - first) * width + from, sum, sizeof sum);
    }
}

Products products(const float* a, const float* b, size_t n) {
    double first = 0, cross = 0, second = 0;
#pragma omp simd reduction(+ : first, cross, second)
    for (size_t j = 0; j < n; ++j) first += double(a[j]) * a[j], cross += double(a[j]) * b[j], second += double(b[j]) * b[j];
    return {first, cross, second};
}

void add(float t, const float* x, float* out, size_t n) {
#pragma omp simd
    for (size_t j = 0; j < n; ++j) out[j] += t * x[j];
}

void reach(const int8_t* sign, const float* goal, const float* scores, const float* move, size_t n, float t, float* out) {
#pragma omp simd
    for (size_t i = 0; i < n; ++i) {
        const float y = sign[i], left = y * (goal[i] - scores[i]), after = left - t * y * move[i];
        out[i] = left > after ? left : after;
    }
}

// Four sums side by side, not vectorised: gathers are slower than single loads.
#if defined(__GNUC__) && !defined(__clang__)
__attribute__((optimize("no-tree-vectorize", "no-tree-slp-vectorize")))
#endif
inline float inner(const Entry* e, const Entry* end, const float* v) {
    float a = 0, b = 0, c = 0, d = 0;
    for (; e + 4 <= end; e += 4) {
        a += e[0].value * v[e[0].column], b += e[1].value * v[e[1].column];
        c += e[2].value * v[e[2].column], d += e[3].value * v[e[3].column];
    }
    for (; e < end; ++e) a += e->value * v[e->column];
    return (a + b) + (c + d);
}

void scores(const Entries& X, const float* D, size_t width, size_t first, size_t last, float* out) {
    if (width == 1) {
        for (size_t i = first; i < last; ++i) out[i - first] = inner(X.entry + X.start[i], X.entry + X.start[i + 1], D);
        return;
    }
    size_t from = 0;
    for (; from + 12 * kLanes <= width; from += 12 * kLanes) scores_of<12>(X, D, width, from, first, last, out);
    for (; from + 4 * kLanes <= width; from += 4 * kLanes) scores_of<4>(X, D, width, from, first, last, out);
    for (; from < width; from += kLanes) scores_of<1>(X, D, width, from, first, last, out);
}

template <size_t V>
SearchSums search_sums(const SearchRows& texts, const double* theta) {
    constexpr size_t L = SearchRows::kTogether;
    typedef double Doubles __attribute__((vector_size(8 * L)));
    Doubles loss = {}, pushed[V] = {}, bent[V * V] = {};
    for (size_t i = 0; i < texts.n; i += L) {
        Doubles missed, costs, D[V];
        std::memcpy(&missed, texts.shortfall + i, sizeof missed);
        std::memcpy(&costs, texts.costs + i, sizeof costs);
        for (size_t v = 0; v < V; ++v) {
            std::memcpy(&D[v], texts.D[v] + i, sizeof D[v]);
            missed -= theta[v] * D[v];
        }
        costs = missed > 0 ? costs : Doubles{};
        const Doubles cost = costs * missed;
        loss += cost * missed;
        for (size_t v = 0; v < V; ++v) {
            pushed[v] += cost * D[v];
            for (size_t u = 0; u <= v; ++u) bent[v * V + u] += costs * D[v] * D[u];
        }
    }
    SearchSums found{};
    for (size_t l = 0; l < L; ++l) {
        found.loss += loss[l];
        for (size_t v = 0; v < V; ++v) {
            found.pushed[v] += pushed[v][l];
            for (size_t u = 0; u <= v; ++u) found.bent[v * V + u] += bent[v * V + u][l];
        }
    }
    return found;
}

SearchSums search(const SearchRows& texts, const double* theta) {
    switch (texts.n_variables) {
        case 1: return search_sums<1>(texts, theta);
        case 2: return search_sums<2>(texts, theta);
        case 3: return search_sums<3>(texts, theta);
        default: return search_sums<4>(texts, theta);
    }
}

template <size_t K>
struct Small {  // M⁻¹ times a vector
    const double* M_inverse;
    void operator()(const double* v, double* out) const {
        for (size_t a = 0; a < K; ++a) {
            out[a] = 0;
            for (size_t b = 0; b < K; ++b) out[a] += M_inverse[a * K + b] * v[b];
        }
    }
};

// The quadratic on the active rows S in the weights w, the coefficients of K columns Z eliminated (M = Z'CZ + diag(ρ), gradient g):
//   downhill  −λw + X_S'(C e + CZ M⁻¹ g)
//   Hessian    λI + X_S'(C − CZ M⁻¹ Z'C)X_S
// by conjugate gradients, preconditioned by the diagonal of λI + X_S'CX_S. A row is read once a step, for both of its products.
template <size_t K>
Step conjugate_gradients(const ActiveRows& X, const Extra& extra, double penalty, double precision, int max_steps, const Vectors& v) {
    const size_t n = X.n_rows, d = X.n_columns;
    const Small<K> eliminate{extra.M_inverse};
    double through[K + 1], z[K + 1];
    float *residual = v.residual, *diagonal = v.diagonal, *direction = v.direction, *image = v.image, *p = v.p, *sums = v.sums;
    const float lambda = float(penalty);
    eliminate(extra.gradient, through);
    for (size_t j = 0; j < d; ++j) residual[j] = -lambda * v.w[j], diagonal[j] = lambda, p[j] = 0;
    for (size_t j = 0; j < K * d; ++j) sums[j] = 0;  // Z'C X
    for (size_t i = 0; i < n; ++i) {
        const float c = X.costs[i];
        float a = c * X.errors[i], cz[K + 1];
        for (size_t b = 0; b < K; ++b) cz[b] = c * X.Z[b * n + i], a += cz[b] * float(through[b]);
        for (int64_t k = X.start[i]; k < X.start[i + 1]; ++k) {
            const auto [j, x] = X.entry[k];
            residual[j] += a * x, diagonal[j] += c * x * x;
            for (size_t b = 0; b < K; ++b) sums[b * d + j] += cz[b] * x;
        }
    }
    double norm = 0, promised = 0;
#pragma omp simd reduction(+ : norm)
    for (size_t j = 0; j < d; ++j) {
        diagonal[j] = 1 / diagonal[j], direction[j] = residual[j] * diagonal[j];
        norm += double(residual[j]) * direction[j];
    }
    const double enough = precision * precision * norm;
    Step found{};
    for (; found.n_steps < max_steps && norm > enough; ++found.n_steps) {
        for (size_t j = 0; j < d; ++j) image[j] = lambda * direction[j];
        for (size_t b = 0; b < K; ++b) z[b] = 0;
        for (size_t i = 0; i < n; ++i) {
            const Entry *first = X.entry + X.start[i], *last = X.entry + X.start[i + 1];
            const float u = inner(first, last, direction), a = X.costs[i] * u;
            for (size_t b = 0; b < K; ++b) z[b] += double(a) * X.Z[b * n + i];
            for (const Entry* k = first; k < last; ++k) image[k->column] += a * k->value;
        }
        eliminate(z, through);
        double along = 0;
        for (size_t b = 0; b < K; ++b) {
            const float by = float(through[b]);
            for (size_t j = 0; j < d; ++j) image[j] -= by * sums[b * d + j];
        }
#pragma omp simd reduction(+ : along)
        for (size_t j = 0; j < d; ++j) along += double(direction[j]) * image[j];
        if (!(along > 0)) break;  // rounding has eaten what was left
        const double t = norm / along, before = norm;
        promised += t * before;
        const float step = float(t);
        norm = 0;
#pragma omp simd reduction(+ : norm)
        for (size_t j = 0; j < d; ++j) {
            p[j] += step * direction[j], residual[j] -= step * image[j];
            norm += double(residual[j]) * residual[j] * diagonal[j];
        }
        const float turn = float(norm / before);
        for (size_t j = 0; j < d; ++j) direction[j] = residual[j] * diagonal[j] + turn * direction[j];
    }
    found.precise = norm <= enough, found.residual = norm;
    for (size_t b = 0; b < K; ++b) {
        double product = 0;
        const float* own = sums + b * d;
#pragma omp simd reduction(+ : product)
        for (size_t j = 0; j < d; ++j) product += double(own[j]) * p[j];
        z[b] = extra.gradient[b] + product;
    }
    eliminate(z, through);
    for (size_t b = 0; b < K; ++b) found.q[b] = -through[b];
    eliminate(extra.gradient, through);
    found.decrement = promised;
    for (size_t b = 0; b < K; ++b) found.decrement += extra.gradient[b] * through[b];
    return found;
}

Step direction(const ActiveRows& X, const Extra& extra, double penalty, double precision, int max_steps, const Vectors& v) {
    switch (extra.n) {
        case 0: return conjugate_gradients<0>(X, extra, penalty, precision, max_steps, v);
        case 1: return conjugate_gradients<1>(X, extra, penalty, precision, max_steps, v);
        case 2: return conjugate_gradients<2>(X, extra, penalty, precision, max_steps, v);
        default: return conjugate_gradients<3>(X, extra, penalty, precision, max_steps, v);
    }
}

}  // namespace LEVEL

const LinearLevel& LEVEL_FUNCTION(LEVEL)() {
    static constexpr LinearLevel level{LEVEL_NAME(LEVEL), &LEVEL::products, &LEVEL::add, &LEVEL::scores, &LEVEL::reach, &LEVEL::search, &LEVEL::direction};
    return level;
}

}  // namespace textmargin
