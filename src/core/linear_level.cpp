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

constexpr size_t kChunk = 1 << 14;  // rows whose sums are single precision's

template <size_t K>
void sum_rows_of(const ActiveRows& X, const Vectors& v) {
    const size_t n = X.n_rows, d = X.n_columns;
    const bool several = n > kChunk;
    float *residual = several ? v.chunk : v.residual, *diagonal = several ? v.chunk + d : v.diagonal;
    float* sums = several ? v.chunk + 2 * d : v.sums;
    if (several) std::memset(v.chunk, 0, (2 + K) * d * sizeof(float));
    for (size_t first = 0; first < n; first += kChunk) {
        const size_t last = first + kChunk < n ? first + kChunk : n;
        for (size_t i = first; i < last; ++i) {
            const float c = X.costs[i], a = c * X.errors[i];
            float cz[K + 1];
            for (size_t b = 0; b < K; ++b) cz[b] = c * X.Z[b * X.column_size + i];
            for (int64_t k = X.begin[i]; k < X.end[i]; ++k) {
                const auto [j, x] = X.entry[k];
                residual[j] += a * x, diagonal[j] += c * x * x;
                for (size_t b = 0; b < K; ++b) sums[b * d + j] += cz[b] * x;
            }
        }
        if (!several) continue;
        for (size_t j = 0; j < d; ++j) v.residual[j] += residual[j], residual[j] = 0;
        for (size_t j = 0; j < d; ++j) v.diagonal[j] += diagonal[j], diagonal[j] = 0;
        for (size_t j = 0; j < K * d; ++j) v.sums[j] += sums[j], sums[j] = 0;
    }
}

void sum_rows(const ActiveRows& X, size_t n_extra, const Vectors& v) {
    switch (n_extra) {
        case 0: return sum_rows_of<0>(X, v);
        case 1: return sum_rows_of<1>(X, v);
        case 2: return sum_rows_of<2>(X, v);
        default: return sum_rows_of<3>(X, v);
    }
}

void add_product(const ActiveRows& X, const Vectors& v) {
    const size_t n = X.n_rows, d = X.n_columns;
    const bool several = n > kChunk;
    float* image = several ? v.chunk : v.image;
    if (several) std::memset(image, 0, d * sizeof(float));
    for (size_t first = 0; first < n; first += kChunk) {
        const size_t last = first + kChunk < n ? first + kChunk : n;
        for (size_t i = first; i < last; ++i) {
            const Entry *begin = X.entry + X.begin[i], *end = X.entry + X.end[i];
            const float a = X.costs[i] * inner(begin, end, v.direction);
            for (const Entry* k = begin; k < end; ++k) image[k->column] += a * k->value;
        }
        if (!several) continue;
        for (size_t j = 0; j < d; ++j) v.image[j] += image[j], image[j] = 0;
    }
}

double inner_product(const float* a, const float* b, size_t n) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t j = 0; j < n; ++j) sum += double(a[j]) * b[j];
    return sum;
}

// M⁻¹ times a vector, for the coefficients of the columns Z.
void eliminate(const Extra& extra, const double* v, double* out) {
    for (size_t a = 0; a < extra.n; ++a) {
        out[a] = 0;
        for (size_t b = 0; b < extra.n; ++b) out[a] += extra.M_inverse[a * extra.n + b] * v[b];
    }
}

// The quadratic on the active rows S in the weights w, the coefficients of the columns Z eliminated (M = Z'CZ + diag(ρ), gradient g):
//   downhill  −λw + X_S'Ce + X_S'CZ M⁻¹ g
//   Hessian    λI + X_S'CX_S − X_S'CZ M⁻¹ Z'CX_S
// by conjugate gradients, preconditioned by the diagonal of λI + X_S'CX_S.
Descent begin(size_t d, const Extra& extra, double penalty, double precision, int max_steps, const Vectors& v) {
    double through[kMostExtra];
    const float lambda = float(penalty);
    eliminate(extra, extra.gradient, through);
    for (size_t b = 0; b < extra.n; ++b) {
        const float by = float(through[b]), *own = v.sums + b * d;
        for (size_t j = 0; j < d; ++j) v.residual[j] += by * own[j];
    }
    double norm = 0;
#pragma omp simd reduction(+ : norm)
    for (size_t j = 0; j < d; ++j) {
        v.residual[j] -= lambda * v.w[j], v.diagonal[j] = 1 / (v.diagonal[j] + lambda), v.p[j] = 0;
        v.direction[j] = v.residual[j] * v.diagonal[j];
        norm += double(v.residual[j]) * v.direction[j];
    }
    const double enough = precision * precision * norm;
    return {norm, enough, 0.0, 0, max_steps, max_steps <= 0 || !(norm > enough)};
}

// `image` has X'CX times the direction.
void step(size_t d, const Extra& extra, double penalty, const Vectors& v, Descent& descent) {
    double z[kMostExtra], through[kMostExtra];
    const float lambda = float(penalty);
    for (size_t b = 0; b < extra.n; ++b) z[b] = inner_product(v.sums + b * d, v.direction, d);
    eliminate(extra, z, through);
    for (size_t b = 0; b < extra.n; ++b) {
        const float by = float(through[b]), *own = v.sums + b * d;
        for (size_t j = 0; j < d; ++j) v.image[j] -= by * own[j];
    }
    double along = 0;
#pragma omp simd reduction(+ : along)
    for (size_t j = 0; j < d; ++j) {
        v.image[j] += lambda * v.direction[j];
        along += double(v.direction[j]) * v.image[j];
    }
    if (!(along > 0)) {  // rounding has eaten what was left
        descent.ended = true;
        return;
    }
    const double t = descent.norm / along, before = descent.norm;
    descent.promised += t * before;
    const float by = float(t);
    double norm = 0;
#pragma omp simd reduction(+ : norm)
    for (size_t j = 0; j < d; ++j) {
        v.p[j] += by * v.direction[j], v.residual[j] -= by * v.image[j];
        norm += double(v.residual[j]) * v.residual[j] * v.diagonal[j];
    }
    const float turn = float(norm / before);
    for (size_t j = 0; j < d; ++j) v.direction[j] = v.residual[j] * v.diagonal[j] + turn * v.direction[j];
    descent.norm = norm;
    descent.ended = ++descent.n_steps >= descent.max_steps || !(norm > descent.enough);
}

Step end(size_t d, const Extra& extra, const Vectors& v, const Descent& descent) {
    Step found{};
    double z[kMostExtra], through[kMostExtra];
    for (size_t b = 0; b < extra.n; ++b) z[b] = extra.gradient[b] + inner_product(v.sums + b * d, v.p, d);
    eliminate(extra, z, through);
    for (size_t b = 0; b < extra.n; ++b) found.q[b] = -through[b];
    eliminate(extra, extra.gradient, through);
    found.decrement = descent.promised;
    for (size_t b = 0; b < extra.n; ++b) found.decrement += extra.gradient[b] * through[b];
    found.n_steps = descent.n_steps, found.precise = descent.norm <= descent.enough, found.residual = descent.norm;
    return found;
}

}  // namespace LEVEL

const LinearLevel& LEVEL_FUNCTION(LEVEL)() {
    static constexpr LinearLevel level{LEVEL_NAME(LEVEL), &LEVEL::products, &LEVEL::add, &LEVEL::scores, &LEVEL::reach, &LEVEL::search,
                                       &LEVEL::sum_rows, &LEVEL::add_product, &LEVEL::begin, &LEVEL::step, &LEVEL::end};
    return level;
}

}  // namespace textmargin
