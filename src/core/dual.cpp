// Kernel SVMs of many classes over one Gram matrix, by coordinate steps. Compiled once per vector level, with LEVEL naming it.
//
//     per class, minimise over β   ½β'(K + ridge)β − t'β     low ≤ β ≤ high   (and Σβ = 0 with an intercept)
//
// e = t − (K + ridge)β is known for all texts; the update of e and the search for the next step are one loop over them.  Without
// intercept a step moves the best text of each of its lanes, one after another, whose rows of K are then read together; with it,
// it moves the pair of Fan, Chen & Lin (2005), WSS 2, as LIBSVM does.
#include <cstring>

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

// visit(j, entries) for all vectors of a row; entries(row) are those of a row of K.
template <class Real, class Entry, class Visit>
void each_vector(size_t n, Visit visit) {
    constexpr size_t L = kLanes<Real>;
    const size_t whole = n / L;
    for (size_t j = 0; j < whole; ++j) visit(j, [j](const Entry* row) { return load<Real>(row + j * L); });
    if (n % L) visit(whole, [whole, n](const Entry* row) { return load_some<Real>(row + whole * L, n % L); });
}

template <class Real>
struct Best {  // the largest value and its place, lane by lane
    typedef typename Types<Real>::V V;
    typedef typename Types<Real>::I I;
    static constexpr size_t L = kLanes<Real>;
    V value = V{} - Types<Real>::infinite;
    I place = {};
    void offer(V candidate, size_t at) {
        const I better = candidate > value;
        value = better ? candidate : value;
        place = better ? I{} + static_cast<int32_t>(at) : place;
    }
    Real reduce(size_t& where) const {  // of equals the first text
        size_t l = 0;
        for (size_t k = 1; k < L; ++k)
            if (value[k] > value[l] || (value[k] == value[l] && place[k] < place[l])) l = k;
        where = static_cast<size_t>(place[l]) * L + l;
        return value[l];
    }
};

template <class Entry, class Real>
struct Steps {
    typedef typename Types<Real>::V V;
    typedef typename Types<Real>::I I;
    static constexpr size_t L = kLanes<Real>;
    const DualState<Entry, Real>& s;
    V* const e = reinterpret_cast<V*>(s.e);
    const V* const curvature = reinterpret_cast<const V*>(s.curvature);
    const V* const up = reinterpret_cast<const V*>(s.up);
    const V* const down = reinterpret_cast<const V*>(s.down);

    bool stopped(int64_t step) const { return step % kStepsUnheard == 0 && __atomic_load_n(s.stop, __ATOMIC_RELAXED); }
    const Entry* row(size_t i) const { return s.K + i * s.n; }
    void move(size_t i, Real by) {  // to the bound itself where it is met; what the ridge takes is in e before the rows are read
        s.up[i] = by == s.up[i] ? Real(0) : s.up[i] - by;
        s.down[i] = by == -s.down[i] ? Real(0) : s.down[i] + by;
        s.e[i] -= by * s.ridge[i];
    }

    DualProgress box(Real tol, int64_t max_steps) {
        const Entry* rows[8];
        Real moved[8];
        int64_t n_steps = 0;
        for (int n_moved = 0;;) {
            Best<Real> best;
            V worst = {};
            // A constant count, so that the compiler unrolls each.
            switch (n_moved) {
                case 0: worst = update<0>(rows, moved, tol, best); break;
                case 1: worst = update<1>(rows, moved, tol, best); break;
                case 2: worst = update<2>(rows, moved, tol, best); break;
                case 3: worst = update<3>(rows, moved, tol, best); break;
                case 4: worst = update<4>(rows, moved, tol, best); break;
                case 5: worst = update<5>(rows, moved, tol, best); break;
                case 6: worst = update<6>(rows, moved, tol, best); break;
                case 7: worst = update<7>(rows, moved, tol, best); break;
                default: worst = update<8>(rows, moved, tol, best);
            }
            Real gain = 0, violation = 0;
            for (size_t l = 0; l < L; ++l) gain = most(gain, best.value[l]), violation = most(violation, worst[l]);
            n_moved = 0;
            if (gain > 0 && n_steps < max_steps && !stopped(n_steps / 8))
                for (size_t l = 0; l < L; ++l) {
                    if (!(best.value[l] >= Real(kShare) * gain)) continue;
                    const size_t i = static_cast<size_t>(best.place[l]) * L + l;
                    Real left = s.e[i];
                    for (int r = 0; r < n_moved; ++r) left -= moved[r] * Real(rows[r][i]);
                    const Real by = least(most(left / s.curvature[i], -s.down[i]), s.up[i]);
                    if (!(by < 0 || by > 0)) continue;
                    move(i, by);
                    rows[n_moved] = row(i), moved[n_moved++] = by;
                }
            if (n_moved == 0) return {n_steps, violation};
            n_steps += n_moved;
        }
    }

    // e after so many moves, the text of each lane that gains most, and the most by which a text is off.
    template <int count>
    V update(const Entry* const* rows, const Real* moved, Real tol, Best<Real>& best) {
        V worst = {};
        each_vector<Real, Entry>(s.n, [&](size_t j, auto entries) {
            V left = e[j];
            for (int r = 0; r < count; ++r) left -= moved[r] * entries(rows[r]);
            e[j] = left;
            V by = left / curvature[j];
            by = by > -down[j] ? by : -down[j];
            by = by < up[j] ? by : up[j];
            const V off = left > 0 ? left : -left;
            const I misses = (off > tol) & (by != 0);
            worst = misses & (off > worst) ? off : worst;
            best.offer(misses ? by * (left - Real(0.5) * curvature[j] * by) : V{}, j);
        });
        return worst;
    }

    DualProgress pairs(Real tol, int64_t max_steps) {
        const V none = V{} - Types<Real>::infinite;
        const Entry *Ki = s.K, *Kk = s.K;
        Real by = 0;
        for (int64_t step = 0;; ++step) {
            Best<Real> rise, fall;
            each_vector<Real, Entry>(s.n, [&](size_t j, auto entries) {
                const V left = e[j] - by * (entries(Ki) - entries(Kk));
                e[j] = left;
                rise.offer(up[j] > 0 ? left : none, j);
                fall.offer(down[j] > 0 ? -left : none, j);
            });
            size_t i, k;
            const Real top = rise.reduce(i), apart = top + fall.reduce(k);
            if (!(apart > tol) || step >= max_steps || stopped(step)) return {step, most(apart, Real(0))};
            Ki = row(i);
            const Real Kii = s.curvature[i];
            Best<Real> gain;
            each_vector<Real, Entry>(s.n, [&](size_t j, auto entries) {
                const V Kij = entries(Ki), off = top - e[j];
                V curve = (Kii - Kij) + (curvature[j] - Kij);  // in this order exact where texts are alike
                curve = curve > flat(Kii) ? curve : V{} + flat(Kii);
                gain.offer((down[j] > 0) & (off > 0) ? off * off / curve : none, j);
            });
            gain.reduce(k);
            Kk = row(k);
            const Real Kik = Real(Ki[k]), curve = most((Kii - Kik) + (s.curvature[k] - Kik), flat(Kii));
            by = least(least((top - s.e[k]) / curve, s.up[i]), s.down[k]);
            if (!(by > 0)) return {step, apart};
            move(i, by);
            move(k, -by);
        }
    }

    // The least curvature: beside it texts are the same.
    static Real flat(Real Kii) { return Real(sizeof(Entry) == 4 ? 1e-9 : 1e-12) * Kii; }
};

template <class Entry, class Real>
DualProgress box(const DualState<Entry, Real>& state, double tol, int64_t max_steps) {
    return Steps<Entry, Real>{state}.box(static_cast<Real>(tol), max_steps);
}

template <class Entry, class Real>
DualProgress pairs(const DualState<Entry, Real>& state, double tol, int64_t max_steps) {
    return Steps<Entry, Real>{state}.pairs(static_cast<Real>(tol), max_steps);
}

// Tiles of 128 rows stay in cache while all problems take from them, four rows at a time.
template <class Entry, class Real>
void subtract(const Entry* K, size_t n, size_t first, size_t last, size_t n_problems, const Real* beta, Real* e) {
    constexpr size_t kRows = 128, L = kLanes<Real>;
    typedef typename Types<Real>::V V;
    const size_t width = last - first;
    for (size_t top = 0; top < n; top += kRows)
        for (size_t t = 0; t < n_problems; ++t) {
            const Real* b = beta + t * n;
            Real* out = e + t * n + first;
            size_t used[kRows], n_used = 0;
            for (size_t i = top; i < least(top + kRows, n); ++i)
                if (b[i] != 0) used[n_used++] = i;
            for (size_t i = 0; i < n_used; i += 4) {
                const Entry* row[4];
                Real a[4];
                for (size_t r = 0; r < 4; ++r) {
                    const bool there = i + r < n_used;
                    row[r] = K + used[there ? i + r : i] * n + first;
                    a[r] = there ? b[used[i + r]] : Real(0);
                }
                each_vector<Real, Entry>(width, [&](size_t j, auto entries) {
                    const size_t count = least(L, width - j * L);
                    V left = count == L ? load<Real>(out + j * L) : load_some<Real>(out + j * L, count);
                    left -= (a[0] * entries(row[0]) + a[1] * entries(row[1])) + (a[2] * entries(row[2]) + a[3] * entries(row[3]));
                    std::memcpy(out + j * L, &left, count * sizeof(Real));
                });
            }
        }
}

template <class Entry, class Real>
constexpr DualSolver<Entry, Real> kSolver = {box<Entry, Real>, pairs<Entry, Real>, subtract<Entry, Real>};

}  // namespace
}  // namespace LEVEL

const DualLevel& LEVEL_FUNCTION(LEVEL)() {
    static constexpr DualLevel level = {LEVEL_NAME(LEVEL), LEVEL::kSolver<float, float>, LEVEL::kSolver<float, double>,
                                        LEVEL::kSolver<double, double>};
    return level;
}

}  // namespace textmargin
