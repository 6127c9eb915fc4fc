// The subsequence kernel of many pairs at once: one pair a lane. Compiled once per vector level, with LEVEL naming it.
//
// The recurrence of ssk.hpp, with K'ᵢ and K''ᵢ divided by cⱼ, the product of the gap weights of columns 1 … j, and by g_a, that of
// rows 1 … a, becomes
//
//     Sᵢ(a, j) = Sᵢ(a, j−1) + [s_a = t_j]·q·Qᵢ₋₁(a−1, j−1)      S = K''/cg, Q = K'/cg, q = match/gap² of the row's symbol
//     Qᵢ(a, j) = Qᵢ(a−1, j) + Sᵢ(a, j)
//
// a multiply-add and an addition per level and cell, which many processors do side by side. Where c gets too small, a tile of columns
// ends and c starts at 1 in the next; where g does, a group of rows decays: its Q is multiplied by the gap, and g starts at 1.
//
// A tile stays in the first cache while all rows pass over it, R rows at a time so that they share its loads and stores. What a row
// leaves at the right edge of a tile (its border) is taken up by the next tile. Row sums are added up in double precision, tile by
// tile, so that not millions of them meet one total.
//
// Registers bind, 16 of them but for AVX-512 and NEON, which have 32: S and Q(a−1, j−1) of all levels stay in them, so levels are done one by one from the
// highest, and no other state is live. What does not match is masked once a cell, in q and c, and not at each level. Within a column
// levels lie highest first: memory read and written downwards stalls on some processors.
//
// Where symbols were taken out after a row or column, all states stand just before the next one that was kept: with e the cost of
// those taken out, the gap weights of a row and of a column are multiplied by e, and so is match.
#include <cmath>
#include <cstring>

#include "engine.hpp"

#ifndef LEVEL
#define LEVEL baseline
#endif
#define JOIN(a, b) a##b
#define LEVEL_FUNCTION(name) JOIN(level_, name)
#define TEXT(name) #name
#define LEVEL_NAME(name) TEXT(name)

namespace textmargin {
namespace LEVEL {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
constexpr int rows_at_once(int levels) { return levels == 1 ? 4 : levels == 2 ? 3 : levels <= 5 ? 2 : 1; }
constexpr int kUnroll = 1;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
constexpr int rows_at_once(int levels) { return levels == 1 ? 3 : levels == 2 ? 2 : 1; }
constexpr int kUnroll = 2;
#elif defined(__aarch64__)  // NEON: narrow vectors, and as many registers as AVX-512
constexpr int kVectorBytes = 16;
constexpr int rows_at_once(int levels) { return levels == 1 ? 4 : levels == 2 ? 3 : levels <= 5 ? 2 : 1; }
constexpr int kUnroll = 1;
#else
constexpr int kVectorBytes = 16;
constexpr int rows_at_once(int levels) { return levels == 1 ? 3 : levels == 2 ? 2 : 1; }
constexpr int kUnroll = 2;
#endif

template <class T>
struct Vectors;
template <>
struct Vectors<float> {
    typedef float Floats __attribute__((vector_size(kVectorBytes)));
    typedef int32_t Codes __attribute__((vector_size(kVectorBytes)));
    static constexpr double least_c = 0x1p-50, least_g = 0x1p-10, growth_bits = 40;  // 1/cg, the largest state and 1/gap: below 2^127
};
template <>
struct Vectors<double> {
    typedef double Floats __attribute__((vector_size(kVectorBytes)));
    typedef int64_t Codes __attribute__((vector_size(kVectorBytes)));
    static constexpr double least_c = 0x1p-300, least_g = 0x1p-100, growth_bits = 600;  // 2^1023
};

constexpr int kTile = 64;           // columns of a tile, at most
constexpr size_t kTileBytes = 24 << 10;  // what Q of a tile may take of the first cache
constexpr int kMostLevels = 15;     // compiled for exactly so many; longer kernels loop

template <class T>
struct Row {  // one row of all lanes; `first` is q for the lowest level, whose Q₀ is 1/c and not divided by g
    typename Vectors<T>::Codes code;
    typename Vectors<T>::Floats gap, q, first, match;
};

template <class T>
struct Column {  // one column of all lanes: its symbol, c before it, and 1/c
    typename Vectors<T>::Codes code;
    typename Vectors<T>::Floats c, inverse;
};

inline size_t least(size_t a, size_t b) { return a < b ? a : b; }

// ln Γ(x); that of the C library writes the sign to a place that all threads share, where it has no other of its own.
inline double log_gamma(double x) {
#ifdef __GLIBC__
    int sign;
    return lgamma_r(x, &sign);
#else
    return std::lgamma(x);
#endif
}

// log₂ of the largest K'ᵢ that texts of n_s and n_t symbols could have, all symbols being equal and matches worth 1.
inline double log_bound(int i, double n_s, double n_t, double gap) {
    const double reach = gap < 1 ? 1 / (1 - gap) : 1e300;
    const double geometric = i * (std::log2(std::fmin(n_s, reach)) + std::log2(std::fmin(n_t, reach)));
    auto choose = [i](double n) { return n <= i ? 0.0 : log_gamma(n + 1) - log_gamma(i + 1.0) - log_gamma(n - i + 1); };
    return std::fmin(geometric, (choose(n_s) + choose(n_t)) / std::log(2.0));
}

// How many times to halve each match, so that no state, and no state times its weight, can overflow whatever the texts say. 0 unless
// texts or lengths are long, or gaps cost next to nothing.
template <class T>
int halvings(const Recipe& recipe, double n_s, double n_t) {
    const double reach = recipe.largest_gap < 1 ? 1 / (1 - recipe.largest_gap) : 1e300;
    const double product = std::fmin(n_s, reach) * std::fmin(n_t, reach);  // of an upper bound's factor for each level
    double weight = 1, most = 0;
    for (int i = 1; recipe.weights && i < recipe.length; ++i) weight = std::fmax(weight, recipe.weights[i]);
    const double bits = Vectors<T>::growth_bits - std::log2(weight);
    if (product <= std::exp2(bits / recipe.length)) return 0;
    for (int i = 1; i < recipe.length; ++i)
        most = std::fmax(most, (log_bound(i, n_s, n_t, recipe.largest_gap) - bits) / i);
    return static_cast<int>(std::ceil(most));
}

inline size_t widest_tile(const Recipe& recipe) {
    const size_t cached = kTileBytes / ((recipe.length - 1) * kVectorBytes);
    return least(cached > 8 ? cached : 8, kTile);
}

// The memory of one comparison: Q and the columns of a tile, then rows and their borders.
template <class T>
struct Scratch {
    using Floats = typename Vectors<T>::Floats;
    Floats* Q;
    Column<T>* columns;
    Row<T>* rows;
    Floats* border;  // per row S and the last Q, all levels
    bool* decays;    // per row

    static size_t bytes(const Recipe& recipe, size_t n_rows) {
        if (recipe.length == 1) return 0;  // no recurrence
        const size_t levels = recipe.length - 1, tile = widest_tile(recipe);
        return tile * levels * sizeof(Floats) + (tile + 1) * sizeof(Column<T>) + n_rows * (sizeof(Row<T>) + 2 * levels * sizeof(Floats) + 1);
    }
    Scratch(const Recipe& recipe, size_t n_rows, void* memory) {
        const size_t levels = recipe.length - 1, tile = widest_tile(recipe);
        Q = static_cast<Floats*>(memory);
        columns = reinterpret_cast<Column<T>*>(Q + tile * levels);
        rows = reinterpret_cast<Row<T>*>(columns + tile + 1);
        border = reinterpret_cast<Floats*>(rows + n_rows);
        decays = reinterpret_cast<bool*>(border + n_rows * 2 * levels);
    }
};

// R rows over the columns of a tile. Levels is the number of states, length − 1, or 0 to take it from `n_levels`.
template <class T, int Levels, bool Sum, bool Decay, int R>
[[gnu::always_inline]] inline void pass(const Row<T>* from, const Column<T>* columns, size_t width, int n_levels,
                                        const typename Vectors<T>::Floats& scale, const T* weights,
                                        typename Vectors<T>::Floats* Q, typename Vectors<T>::Floats* border, double* K) {
    using Floats = typename Vectors<T>::Floats;
    using Codes = typename Vectors<T>::Codes;
    constexpr int kMost = Levels ? Levels : 256;
    const int C = Levels ? Levels : n_levels;
    Floats S[R][kMost], before[R][kMost], sum[R];  // before is Q(a − 1, j − 1)
    Row<T> rows[R];
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
        for (int i = 0; i < C; ++i) {
            S[r][i] = border[2 * C * r + i] * scale;
            before[r][i] = border[2 * C * r + C + i] * scale;
        }
        sum[r] = Floats{};
        rows[r] = from[r];
    }
#pragma GCC unroll kUnroll
    for (size_t j = 0; j < width; ++j) {
        const Column<T>& column = columns[j];
        Floats q[R], first[R];  // 0 where there is no match
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) {
            const Codes match = rows[r].code == column.code;
            Floats worth = before[r][C - 1];
            if constexpr (Sum) {
#pragma GCC unroll 16
                for (int i = C - 2; i >= 0; --i) worth = worth + before[r][i] * weights[i + 1];
            }
            sum[r] = sum[r] + worth * (Floats)(match & (Codes)column.c);
            q[r] = (Floats)(match & (Codes)rows[r].q);
            first[r] = (Floats)(match & (Codes)rows[r].first);
        }
#pragma GCC unroll 16
        for (int i = C - 1; i >= 0; --i) {
            Floats& place = Q[j * C + (C - 1 - i)];
            Floats now = place;
#pragma GCC unroll 4
            for (int r = 0; r < R; ++r) {
                S[r][i] = S[r][i] + (i ? before[r][i - 1] * q[r] : column.inverse * first[r]);
                before[r][i] = now;
                now = (Decay ? now * rows[r].gap : now) + S[r][i];
            }
            place = now;
        }
    }
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
        for (int i = 0; i < C; ++i) {
            border[2 * C * r + i] = S[r][i];
            border[2 * C * r + C + i] = before[r][i];
        }
        const Floats row_sum = sum[r] * rows[r].match;
        for (size_t lane = 0; lane < kVectorBytes / sizeof(T); ++lane) K[lane] += row_sum[lane];
    }
}

// The rows of all lanes. Past the end of a lane's text stands −1, and in columns −2: they match nothing. Of a lane R rows decay, or
// none of them: where its g would get too small in any of them. Beside lanes that decay, one that does not has gaps of 1, so that what
// comes of a pair does not hang on its company.
template <class T, int R>
void fill_rows(const Pair* pairs, const Recipe& recipe, double halved, size_t n_rows, const Scratch<T>& at) {
    constexpr int kLanes = kVectorBytes / sizeof(T);
    double g[kLanes], carry[kLanes];  // carry: what rounding took from the gaps: thousands of equal ones must not err the same way
    for (int lane = 0; lane < kLanes; ++lane) g[lane] = carry[lane] = 1;
    for (size_t start = 0, end; start < n_rows; start = end) {
        end = least(start + R, n_rows);
        double gap[R][kLanes];
        bool decays[kLanes], any = false;
        for (int lane = 0; lane < kLanes; ++lane) {
            const Pair& pair = pairs[lane];
            double left = g[lane];
            for (size_t a = start; a < end; ++a) {
                const bool in = a < pair.n_s;
                gap[a - start][lane] = in ? recipe.gap[recipe.uniform ? 0 : pair.s[a]] * (pair.s_after ? pair.s_after[a] : 1.0) : 1.0;
                left *= gap[a - start][lane];
            }
            any |= decays[lane] = left < Vectors<T>::least_g;
        }
        for (size_t a = start; a < end; ++a) {
            Row<T>& row = at.rows[a];
            at.decays[a] = any;
            for (int lane = 0; lane < kLanes; ++lane) {
                const Pair& pair = pairs[lane];
                const int32_t x = row.code[lane] = a < pair.n_s ? pair.s[a] : -1, symbol = recipe.uniform || x < 0 ? 0 : x;
                const double match = recipe.match[symbol] * halved, before = g[lane], after = before * gap[a - start][lane];
                const double q = match * (gap[a - start][lane] / recipe.gap[symbol]) / recipe.gap[symbol];
                g[lane] = decays[lane] ? 1 : after;
                row.gap[lane] = 1;
                if (decays[lane]) {
                    const T rounded = row.gap[lane] = static_cast<T>(after * carry[lane]);
                    carry[lane] = rounded > 0 ? after * carry[lane] / rounded : 1;
                }
                row.match[lane] = match * before;
                row.first[lane] = q / g[lane];
                row.q[lane] = q * before / g[lane];
            }
        }
    }
}

// A tile of columns from `start`, with c starting at 1 and ending before it gets too small. Returns its width; the column after
// the last has the c that is left.
template <class T>
size_t fill_columns(const Pair* pairs, const Recipe& recipe, size_t start, size_t most, Column<T>* columns) {
    constexpr int kLanes = kVectorBytes / sizeof(T);
    size_t width = most;
    for (int lane = 0; lane < kLanes; ++lane) {
        const Pair& pair = pairs[lane];
        double c = 1;
        columns[0].c[lane] = 1;
        for (size_t j = 0; j < width; ++j) {
            const bool in = start + j < pair.n_t;
            const int32_t x = columns[j].code[lane] = in ? pair.t[start + j] : -2;
            if (in) c *= recipe.gap[recipe.uniform ? 0 : x] * (pair.t_after ? pair.t_after[start + j] : 1.0);
            columns[j + 1].c[lane] = static_cast<T>(c);
            if (c < Vectors<T>::least_c) width = j + 1;
        }
    }
    for (size_t j = 0; j < width; ++j) columns[j].inverse = 1 / columns[j].c;
    return width;
}

template <class T, int Levels, bool Sum>
bool compare(const Pair* pairs, const Recipe& recipe, void* memory, const bool* stop, double* K, int* exponent) {
    using Floats = typename Vectors<T>::Floats;
    constexpr int kLanes = kVectorBytes / sizeof(T);
    constexpr int R = Levels > 0 ? rows_at_once(Levels) : 1;
    const int C = recipe.length - 1;
    size_t n_rows = 0, n_columns = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
        if (pairs[lane].n_s > n_rows) n_rows = pairs[lane].n_s;
        if (pairs[lane].n_t > n_columns) n_columns = pairs[lane].n_t;
        K[lane] = 0;
    }
    const int halve = halvings<T>(recipe, n_rows, n_columns);
    *exponent = halve * recipe.length;
    T weights[256];  // relative to the last, which is 1
    for (int i = 0; Sum && i < recipe.length; ++i) weights[i] = std::ldexp(recipe.weights[i], halve * (i + 1 - recipe.length));

    const Scratch<T> at(recipe, n_rows, memory);
    fill_rows<T, R>(pairs, recipe, std::ldexp(1.0, -halve), n_rows, at);
    std::memset(at.border, 0, n_rows * 2 * C * sizeof(Floats));
    const size_t tile = widest_tile(recipe);
    Floats scale = Floats{} + 1;
    for (size_t start = 0, width; start < n_columns; start += width) {
        width = fill_columns(pairs, recipe, start, least(tile, n_columns - start), at.columns);
        std::memset(at.Q, 0, width * C * sizeof(Floats));
        double of_tile[kLanes] = {};
        size_t a = 0;
        auto advance = [&]<bool Decay, int Rows>() {
            pass<T, Levels, Sum, Decay, Rows>(at.rows + a, at.columns, width, C, scale, weights, at.Q, at.border + 2 * C * a, of_tile);
            a += Rows;
        };
        while (a + R <= n_rows) {
            at.decays[a] ? advance.template operator()<true, R>() : advance.template operator()<false, R>();
            if (a % 4096 < R && __atomic_load_n(stop, __ATOMIC_RELAXED)) return false;
        }
        while (a < n_rows) advance.template operator()<true, 1>();  // where none decays, by 1
        for (int lane = 0; lane < kLanes; ++lane) K[lane] += of_tile[lane];
        scale = at.columns[width].c;
    }
    return true;
}

template <class T, int Levels>
bool compare_exactly(int n_levels, const Pair* pairs, const Recipe& recipe, void* memory, const bool* stop, double* K, int* exponent) {
    if constexpr (Levels > kMostLevels) {
        return recipe.weights ? compare<T, 0, true>(pairs, recipe, memory, stop, K, exponent)
                              : compare<T, 0, false>(pairs, recipe, memory, stop, K, exponent);
    } else {
        if (n_levels > Levels) return compare_exactly<T, Levels + 1>(n_levels, pairs, recipe, memory, stop, K, exponent);
        return recipe.weights ? compare<T, Levels, true>(pairs, recipe, memory, stop, K, exponent)
                              : compare<T, Levels, false>(pairs, recipe, memory, stop, K, exponent);
    }
}

template <class T>
bool compare_any(const Pair* pairs, const Recipe& recipe, void* memory, const bool* stop, double* K, int* exponent) {
    return compare_exactly<T, 1>(recipe.length - 1, pairs, recipe, memory, stop, K, exponent);
}

template <class T>
constexpr Engine engine() {
    return {kVectorBytes / sizeof(T), &Scratch<T>::bytes, &compare_any<T>};
}

}  // namespace LEVEL

const Level& LEVEL_FUNCTION(LEVEL)() {
    static constexpr Level level{LEVEL_NAME(LEVEL), LEVEL::engine<float>(), LEVEL::engine<double>()};
    return level;
}

}  // namespace textmargin
