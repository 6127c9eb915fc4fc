// Kernel SVMs of many classes over one Gram matrix, by coordinate steps. Compiled once per vector level, with LEVEL naming it.
//
//     per class, minimise over β   ½β'Kβ − t'β     low ≤ β ≤ high   (and Σβ = 0 with an intercept)
//
// e = t − Kβ is known for all texts; the update of e and the search for the next step are one loop over them.  Without
// intercept a step moves the best text of each of its lanes, one after another, whose rows of K are then read together; with it,
// it moves the pair of Fan, Chen & Lin (2005), WSS 2, as LIBSVM does.
#include <cstring>
#include <vector>

#include "dual.hpp"

#ifndef LEVEL
#define LEVEL baseline
#endif
#define JOIN(a, b) a##b
#define LEVEL_FUNCTION(name) JOIN(dual_, name)
#define TEXT(name) #name
#define LEVEL_NAME(name) TEXT(name)

namespace textmargin {
namespace LEVEL {
namespace {

#if defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif
template <class Real>
constexpr size_t kLanes = kVectorBytes / sizeof(Real);
constexpr size_t kBlock = 8;            // vectors
constexpr size_t kAhead = 16;           // blocks
constexpr double kPromising = 0.3;      // of the largest distance of a pair, without which a block is not searched for a partner
constexpr int64_t kStepsUnheard = 256;  // between looks at `stop`
constexpr double kShare = 0.1;          // of the best gain, that a text of another lane must have to be moved in the same step

template <class Real>
struct Types;
template <>
struct Types<float> {
    typedef float V __attribute__((vector_size(kVectorBytes)));
    typedef int32_t I __attribute__((vector_size(kVectorBytes)));
    static constexpr float infinite = __builtin_huge_valf();
};
template <>
struct Types<double> {
    typedef double V __attribute__((vector_size(kVectorBytes)));
    typedef int64_t I __attribute__((vector_size(kVectorBytes)));
    static constexpr double infinite = __builtin_huge_val();
};
template <class Entry, size_t lanes>
struct Row {  // so many entries of K
    typedef Entry V __attribute__((vector_size(lanes * sizeof(Entry))));
};

template <class Real>
Real least(Real a, Real b) { return a < b ? a : b; }
template <class Real>
Real most(Real a, Real b) { return a > b ? a : b; }

template <class Real, class Entry>
typename Types<Real>::V load(const Entry* p) {
    typename Row<Entry, kLanes<Real>>::V x;
    std::memcpy(&x, p, sizeof x);
    return __builtin_convertvector(x, typename Types<Real>::V);
}
// The last vector of a row, of which only some entries are there.
template <class Real, class Entry>
typename Types<Real>::V load_some(const Entry* p, size_t count) {
    typename Row<Entry, kLanes<Real>>::V x = {};
    std::memcpy(&x, p, count * sizeof(Entry));
    return __builtin_convertvector(x, typename Types<Real>::V);
}

// visit(first, last, entries) for vectors first … last − 1, block by block; entries(row, j) is vector j of a row of K.
template <class Real, class Entry, class Visit>
void each_block(size_t n, Visit visit) {
    constexpr size_t L = kLanes<Real>;
    const size_t whole = n / L;
    for (size_t first = 0; first < whole; first += kBlock)
        visit(first, least(first + kBlock, whole), [](const Entry* row, size_t j) { return load<Real>(row + j * L); });
    if (n % L) visit(whole, whole + 1, [n](const Entry* row, size_t j) { return load_some<Real>(row + j * L, n % L); });
}

// Asks for what a row has some blocks further on, into the second cache, which can wait for more lines at a time than the first;
// the processor's own guesses end with each page.
template <class Real, class Entry>
void fetch_ahead(const Entry* row, size_t first, size_t n) {
    constexpr size_t kEntries = kBlock * kLanes<Real>, kLine = 64 / sizeof(Entry);
    const size_t from = first * kLanes<Real> + kAhead * kEntries;
    for (size_t i = from; i < least(from + kEntries, n); i += kLine) __builtin_prefetch(row + i, 0, 2);
}

template <class V>
V larger(V a, V b) { return a > b ? a : b; }

// The largest value, lane by lane, and the block it is in: within a block nothing but the value is looked at.
template <class Real>
struct Best {
    typedef typename Types<Real>::V V;
    typedef typename Types<Real>::I I;
    static constexpr size_t L = kLanes<Real>;
    V value = V{} - Types<Real>::infinite;
    I block = {};
    void offer(V candidate, size_t first) {
        const I better = candidate > value;
        value = better ? candidate : value;
        block = better ? I{} + static_cast<int32_t>(first) : block;
    }
    Real reduce() const {
        Real best = value[0];
        for (size_t l = 1; l < L; ++l) best = most(best, value[l]);
        return best;
    }
    // The text of a lane that has it, from the value of each.
    template <class Value>
    size_t text(size_t l, size_t n, Value value_of) const {
        const size_t first = static_cast<size_t>(block[l]) * L + l;
        size_t found = first;
        Real best = value_of(first);
        for (size_t i = first + L; i < least(first + kBlock * L, n); i += L) {
            const Real other = value_of(i);
            if (other > best) best = other, found = i;
        }
        return found;
    }
    template <class Value>
    size_t text(size_t n, Value value_of) const {  // of all lanes, of equals the first
        size_t lane = 0;
        for (size_t l = 1; l < L; ++l)
            if (value[l] > value[lane] || (value[l] == value[lane] && block[l] < block[lane])) lane = l;
        return text(lane, n, value_of);
    }
};

template <class Entry, class Real>
struct Steps {
    typedef typename Types<Real>::V V;
    static constexpr size_t L = kLanes<Real>;
    const DualState<Entry, Real>& s;
    V* const e = reinterpret_cast<V*>(s.e);
    const V* const curvature = reinterpret_cast<const V*>(s.curvature);
    const V* const inverse = reinterpret_cast<const V*>(s.inverse);
    const V* const up = reinterpret_cast<const V*>(s.up);
    const V* const down = reinterpret_cast<const V*>(s.down);
    const V* const rise = reinterpret_cast<const V*>(s.rise);
    const V* const fall = reinterpret_cast<const V*>(s.fall);

    bool stopped(int64_t step) const { return step % kStepsUnheard == 0 && __atomic_load_n(s.stop, __ATOMIC_RELAXED); }
    const Entry* row(size_t i) const { return s.K + i * s.n; }
    void move(size_t i, Real by) {  // to the bound itself where it is met
        s.up[i] = by == s.up[i] ? Real(0) : s.up[i] - by;
        s.down[i] = by == -s.down[i] ? Real(0) : s.down[i] + by;
        s.rise[i] = s.up[i] > 0 ? Real(0) : -Types<Real>::infinite;
        s.fall[i] = s.down[i] > 0 ? Real(0) : -Types<Real>::infinite;
    }

    void box(Real tol, int64_t max_steps) {
        const Entry* rows[8];
        Real moved[8];
        int64_t n_steps = 0, n_sweeps = 0;
        for (int n_moved = 0;;) {
            Best<Real> best;
            switch (n_moved) {  // a constant count, so that the compiler unrolls each
                case 0: update<0>(rows, moved, tol, best); break;
                case 1: update<1>(rows, moved, tol, best); break;
                case 2: update<2>(rows, moved, tol, best); break;
                case 3: update<3>(rows, moved, tol, best); break;
                case 4: update<4>(rows, moved, tol, best); break;
                case 5: update<5>(rows, moved, tol, best); break;
                case 6: update<6>(rows, moved, tol, best); break;
                case 7: update<7>(rows, moved, tol, best); break;
                default: update<8>(rows, moved, tol, best);
            }
            const Real gain = best.reduce();
            n_moved = 0;
            if (gain > 0 && n_steps < max_steps && !stopped(n_sweeps++))
                for (size_t l = 0; l < L && n_moved < 8; ++l) {
                    if (!(best.value[l] >= Real(kShare) * gain)) continue;
                    const size_t i = best.text(l, s.n, [&](size_t k) {
                        const Real by = step(s.e[k], k);
                        return off(s.e[k]) > tol ? by * (s.e[k] - Real(0.5) * s.curvature[k] * by) : Real(0);
                    });
                    Real left = s.e[i];
                    for (int r = 0; r < n_moved; ++r) left -= moved[r] * Real(rows[r][i]);
                    const Real by = step(left, i);
                    if (!(by < 0 || by > 0)) continue;
                    move(i, by);
                    rows[n_moved] = row(i), moved[n_moved++] = by;
                }
            if (n_moved == 0) return;
            n_steps += n_moved;
        }
    }

    static Real off(Real e) { return e < 0 ? -e : e; }
    Real step(Real left, size_t i) const { return least(most(left * s.inverse[i], -s.down[i]), s.up[i]); }

    // e after so many moves, and in each lane the text that gains most.
    template <int count>
    void update(const Entry* const* rows, const Real* moved, Real tol, Best<Real>& best) {
        each_block<Real, Entry>(s.n, [&](size_t first, size_t last, auto entries) {
            V block = {};
            for (size_t j = first; j < last; ++j) {
                V left = e[j];
                for (int r = 0; r < count; ++r) left -= moved[r] * entries(rows[r], j);
                e[j] = left;
                V by = larger(left * inverse[j], -down[j]);
                by = by < up[j] ? by : up[j];
                const V gain = by * (left - Real(0.5) * curvature[j] * by);
                block = larger(block, larger(left, -left) > tol ? gain : V{});
            }
            best.offer(block, first);
        });
    }

    void pairs(Real tol, int64_t max_steps) {
        const V none = V{} - Types<Real>::infinite;
        const Entry *Ki = s.K, *Kk = s.K;
        std::vector<V> furthest(s.n / (L * kBlock) + 2);
        Real by = 0;
        for (int64_t step = 0;; ++step) {
            Best<Real> highest, lowest;
            size_t n_blocks = 0;
            each_block<Real, Entry>(s.n, [&](size_t first, size_t last, auto entries) {
                fetch_ahead<Real>(Kk, first, s.n);
                V high = none, low = none;
                for (size_t j = first; j < last; ++j) {
                    const V left = e[j] - by * (entries(Ki, j) - entries(Kk, j));
                    e[j] = left;
                    high = larger(high, left + rise[j]);
                    low = larger(low, fall[j] - left);
                }
                highest.offer(high, first);
                lowest.offer(low, first);
                furthest[n_blocks++] = low;
            });
            const Real top = highest.reduce(), apart = top + lowest.reduce();
            if (!(apart > tol) || step >= max_steps || stopped(step)) return;
            const size_t i = highest.text(s.n, [&](size_t k) { return s.e[k] + s.rise[k]; });
            Ki = row(i);
            const Real Kii = s.curvature[i], flat = Real(sizeof(Entry) == 4 ? 1e-9 : 1e-12) * Kii;  // beside it texts are the same
            const auto curve = [&](Real Kij, size_t k) { return most((Kii - Kij) + (s.curvature[k] - Kij), flat); };
            Best<Real> gain;
            const Real promising = Real(kPromising) * apart - top;
            size_t number = 0;
            each_block<Real, Entry>(s.n, [&](size_t first, size_t last, auto entries) {
                const auto there = furthest[number++] > promising;
                bool any = false;
                for (size_t l = 0; l < L; ++l) any |= there[l] != 0;
                fetch_ahead<Real>(Ki, first, s.n);
                if (!any) return;
                V block = none;
                for (size_t j = first; j < last; ++j) {
                    const V Kij = entries(Ki, j), off = larger(top - e[j], V{});
                    const V bend = larger((Kii - Kij) + (curvature[j] - Kij), V{} + flat);  // in this order exact where texts are alike
                    block = larger(block, off * off / bend + fall[j]);
                }
                gain.offer(block, first);
            });
            const size_t k = gain.text(s.n, [&](size_t j) {
                const Real off = most(top - s.e[j], Real(0));
                return off * off / curve(Real(Ki[j]), j) + s.fall[j];
            });
            Kk = row(k);
            by = least(least((top - s.e[k]) / curve(Real(Ki[k]), k), s.up[i]), s.down[k]);
            if (!(by > 0)) return;
            move(i, by);
            move(k, -by);
        }
    }
};

template <class Entry, class Real>
void box(const DualState<Entry, Real>& state, double tol, int64_t max_steps) {
    Steps<Entry, Real>{state}.box(static_cast<Real>(tol), max_steps);
}

template <class Entry, class Real>
void pairs(const DualState<Entry, Real>& state, double tol, int64_t max_steps) {
    Steps<Entry, Real>{state}.pairs(static_cast<Real>(tol), max_steps);
}

template <class Entry, class Real>
constexpr DualSolver<Entry, Real> kSolver = {box<Entry, Real>, pairs<Entry, Real>};

}  // namespace
}  // namespace LEVEL

const DualLevel& LEVEL_FUNCTION(LEVEL)() {
    static constexpr DualLevel level = {LEVEL_NAME(LEVEL), LEVEL::kSolver<float, float>, LEVEL::kSolver<float, double>,
                                        LEVEL::kSolver<double, double>};
    return level;
}

}  // namespace textmargin
