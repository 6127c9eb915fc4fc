// The subsequence kernel of many pairs on a GPU: the recurrence of src/core/lanes.cpp, laid out for warps.
//
//     Sᵢ(j)    = Sᵢ(j−1) + [s_a = t_j]·q·Qᵢ₋₁(a−1, j−1)      S = K''/c, Q = K'/c, q = match/gap of the row's symbol
//     Qᵢ(a, j) = gap(s_a)·Qᵢ(a−1, j) + Sᵢ(j)                  c: product of the gaps of the columns of a group before j
//
// A lane owns COLUMNS neighbouring columns of one text t and keeps their Q in registers; S at its right edge travels to the next
// lane by shuffle, which is one step behind. All lanes of a tile (32) meet the same stream of texts s, two rows a step, so that the
// pipeline fills once for thousands of rows. Texts t stand side by side, each from a lane of its own; where one goes on in the next
// tile, the edge is kept in memory. A text s ends with a row whose gap is 0, which empties all states.
//
// What binds is the issue of instructions, one a cycle and scheduler: a cell takes two multiply-adds a level, one for the sum and
// one comparison, and nothing is left to take away but the rest. Hence two rows a step: then no state is copied, for
// Q(b, j−1) can be written where Q(a−1, j−1) was read last, between the two rows' steps at column j (see `step`).
//
// Compiled with REAL, LEVELS (length − 1), COLUMNS, GROUP (of columns, after which c starts again), WEIGHTED (all lengths count),
// UNIFORM (all symbols have the same gap) and WARPS (that fit a multiprocessor).

typedef REAL Real;
struct alignas(2 * sizeof(Real)) Two { Real a, b; };  // of the two rows of a step

constexpr int kLanes = 32;
constexpr unsigned kAll = 0xffffffffu;
constexpr int kGroups = COLUMNS / GROUP;
constexpr int kStates = LEVELS > 0 ? LEVELS : 1;  // of a cell; an array must not be empty
constexpr int kFirst = 1, kContinued = 2, kLast = 4;  // of a lane: its text begins here, in an earlier tile, ends in this tile here
static_assert(COLUMNS % GROUP == 0, "groups divide the columns");

// What is the same for all pairs. Of the columns of a group: c before each, which is past·1 for the first, whose left neighbour is
// of the group before; and 1/c.
struct Constants {
    Real q, past;
    Real c[GROUP], inverse[GROUP];
    Real weights[kStates + 1];
};

// Texts t as tiles of columns, (tile, column, lane), with c and 1/c where symbols differ in their gaps; and of each lane its text and
// what it is of it.
struct Columns {
    const int* symbol;
    const Real *c, *inverse, *past;
    const int2* lane;
};

// Texts s as one stream of rows, two a step. A symbol below −1 ends text number −2 − symbol; −1 is like no other.
struct Rows {
    const int2* symbol;
    const Two *gap, *q;
};

struct Job { int first_tile, n_tiles, first_step, last_step; };

// Which pairs are wanted, and where they go: K[s·stride + t].
struct Output {
    Real* K;
    long long stride;
    int wanted;  // 0: all; 1: s ≤ t; 2: s = t, K[t]
};

// The weights of a lane's columns: constants where all gaps are alike, or else in registers.
struct Weights {
#if UNIFORM
    const Constants& of;
    __device__ Real c(int j) const { return j % GROUP ? of.c[j % GROUP] : j ? of.past : Real(1); }
    __device__ Real inverse(int j) const { return of.inverse[j % GROUP]; }
    __device__ Real past(int) const { return of.past; }
#else
    Real c_[COLUMNS], inverse_[COLUMNS], past_[kGroups];
    __device__ Real c(int j) const { return j % GROUP || !j ? c_[j] : past_[j / GROUP]; }
    __device__ Real inverse(int j) const { return inverse_[j]; }
    __device__ Real past(int group) const { return past_[group]; }  // of the columns of the group before
#endif
};

__device__ __forceinline__ Real times_and(Real x, Real y, Real z) {
    if constexpr (sizeof(Real) == 4) return __fmaf_rn(x, y, z);
    else return __fma_rn(x, y, z);
}

// z + x·y where two symbols are the same. Written as one predicated instruction: of an `if` the compiler makes a branch here, or a
// copy of z.
#ifdef __CUDA_ARCH__
__device__ __forceinline__ void add_if_same(int row, int column, float x, float y, float& z) {
    asm("{ .reg .pred same; setp.eq.s32 same, %3, %4; @same fma.rn.f32 %0, %1, %2, %0; }"
        : "+f"(z) : "f"(x), "f"(y), "r"(row), "r"(column));
}
__device__ __forceinline__ void add_if_same(int row, int column, double x, double y, double& z) {
    asm("{ .reg .pred same; setp.eq.s32 same, %3, %4; @same fma.rn.f64 %0, %1, %2, %0; }"
        : "+d"(z) : "d"(x), "d"(y), "r"(row), "r"(column));
}
#else  // where it is tested without a GPU
inline void add_if_same(int row, int column, Real x, Real y, Real& z) {
    if (row == column) z = times_and(x, y, z);
}
#endif

// The states of a lane: Q of its columns and of the one to the left, all in units of the group they are in, that one in ours.
struct States {
    Real Q[COLUMNS][kStates], left[kStates];
    Real Sa[kStates], Sb[kStates];  // at the right edge, of either row

    __device__ void clear() {
#pragma unroll
        for (int i = 0; i < kStates; ++i) {
            left[i] = Sa[i] = Sb[i] = 0;
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) Q[j][i] = 0;
        }
    }
};

// What a match is worth: what its left upper neighbour has of the last level, or of all.
__device__ __forceinline__ Real worth(const Real (&before)[kStates], const Constants& constants) {
    Real sum = before[kStates - 1];
#if WEIGHTED
#pragma unroll
    for (int i = kStates - 2; i >= 0; --i) sum = times_and(before[i], constants.weights[i + 1], sum);
#endif
    return sum;
}

// Rows a and b over the columns of a lane; Sa and Sb are those at its left edge. Returns what the matches add to K.
__device__ __forceinline__ Real step(States& at, const int (&symbols)[COLUMNS], const Weights& weights, int2 row, Two gap, Two q,
                                     const Constants& constants) {
    Real sum = 0;
#if LEVELS == 0
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j) sum += Real(row.x == symbols[j]) + Real(row.y == symbols[j]);
#else
    Real Qa[kStates];  // Q(a, j − 1)
#pragma unroll
    for (int i = 0; i < kStates; ++i) Qa[i] = times_and(gap.a, at.left[i], at.Sa[i]);
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j) {
        auto add_matches = [&](const Real (&before)[kStates], Real (&S)[kStates], int symbol, Real q) {
            add_if_same(symbol, symbols[j], worth(before, constants), weights.c(j), sum);
#if WEIGHTED
            add_if_same(symbol, symbols[j], constants.weights[0], Real(1), sum);
#endif
            Real reach = q;
            if (j > 0 && j % GROUP == 0) {  // what comes from the group before is in its units
                const Real past = weights.past(j / GROUP);
                reach *= past;
#pragma unroll
                for (int i = 0; i < kStates; ++i) S[i] *= past;
            }
#pragma unroll
            for (int i = 1; i < kStates; ++i) add_if_same(symbol, symbols[j], before[i - 1], reach, S[i]);
            add_if_same(symbol, symbols[j], weights.inverse(j), q, S[0]);
        };
        Real(&before)[kStates] = j > 0 ? at.Q[j - 1] : at.left;  // Q(a − 1, j − 1)
        add_matches(before, at.Sa, row.x, q.a);
        // Q(a − 1, j − 1) is not needed any more, and Sb still is that of column j − 1.
#pragma unroll
        for (int i = 0; i < kStates; ++i) before[i] = times_and(gap.b, Qa[i], at.Sb[i]);
        add_matches(Qa, at.Sb, row.y, q.b);
#pragma unroll
        for (int i = 0; i < kStates; ++i) Qa[i] = times_and(gap.a, at.Q[j][i], at.Sa[i]);
    }
#pragma unroll
    for (int i = 0; i < kStates; ++i) at.Q[COLUMNS - 1][i] = times_and(gap.b, Qa[i], at.Sb[i]);
#endif
    return sum;
}

// One tile against the texts of a job's rows. `edge` keeps what leaves the tile at its right, a step at a time, and has what comes
// in at its left where a text continues.
__device__ __forceinline__ void pass(const Constants& constants, const Columns& columns, const Rows& rows, const Output& out,
                                     const Job& job, int tile, Real* edge) {
    const int lane = threadIdx.x, n_steps = job.last_step - job.first_step;
    int symbols[COLUMNS];
#if UNIFORM
    const Weights weights{constants};
#else
    Weights weights;
#endif
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j) {
        const size_t at = (size_t(tile) * COLUMNS + j) * kLanes + lane;
        symbols[j] = columns.symbol[at];
#if !UNIFORM
        weights.c_[j] = columns.c[at];
        weights.inverse_[j] = columns.inverse[at];
        if (j % GROUP == 0) weights.past_[j / GROUP] = columns.past[(size_t(tile) * kGroups + j / GROUP) * kLanes + lane];
#endif
    }
    const int2 of = columns.lane[tile * kLanes + lane];  // text, what the lane is
    const int text = of.x;
    const bool first = of.y & kFirst, continued = of.y & kContinued, last = of.y & kLast;
    const bool takes = lane == 0 && !first && text >= 0, leaves = tile + 1 < job.first_tile + job.n_tiles;
    const bool any_takes = __any_sync(kAll, takes);
    const Real from_left = first ? Real(0) : weights.past(0);

    States at;
    at.clear();
    Real K = 0, lost = 0, passed_on = 0;  // of this lane's columns; what rounding took from it; of those up to this lane
    const int2* symbol_at = rows.symbol + job.first_step - lane;
    const Two* gap_at = rows.gap + job.first_step - lane;
#if !UNIFORM
    const Two* q_at = rows.q + job.first_step - lane;
#endif
    int2 next = make_int2(-1, -1);
    Two next_gap{0, 0}, next_q{constants.q, constants.q};
    auto look = [&](int t) {  // the row a lane meets at a time; none before the first and after the last
        const bool there = unsigned(t - lane) < unsigned(n_steps);
        next = there ? symbol_at[t] : make_int2(-1, -1);
        next_gap = there ? gap_at[t] : Two{0, 0};
#if !UNIFORM
        next_q = there ? q_at[t] : Two{0, 0};
#endif
    };
    look(0);
    for (int t = 0; t < n_steps + kLanes - 1; ++t) {
        const int2 row = next;
        const Two gap = next_gap, q = next_q;
        look(t + 1);
#pragma unroll
        for (int i = 0; i < LEVELS; ++i) {
            at.Sa[i] = __shfl_up_sync(kAll, at.Sa[i], 1);
            at.Sb[i] = __shfl_up_sync(kAll, at.Sb[i], 1);
        }
        const Real before = __shfl_up_sync(kAll, passed_on, 1);
        if (any_takes && takes && t < n_steps)
#pragma unroll
            for (int i = 0; i < LEVELS; ++i) {
                const Two in = reinterpret_cast<const Two*>(edge)[size_t(t) * LEVELS + i];
                at.Sa[i] = in.a, at.Sb[i] = in.b;
            }
#pragma unroll
        for (int i = 0; i < LEVELS; ++i) at.Sa[i] *= from_left, at.Sb[i] *= from_left;
        const Real added = step(at, symbols, weights, row, gap, q, constants) - lost;
        // Q of the column to the left moves on by the two rows: it was taken there by `step`.
        const Real sum = K + added;
        lost = (sum - K) - added;
        K = sum;
        if (leaves && lane == kLanes - 1 && t >= kLanes - 1)
#pragma unroll
            for (int i = 0; i < LEVELS; ++i)
                reinterpret_cast<Two*>(edge)[size_t(t - lane) * LEVELS + i] = Two{at.Sa[i], at.Sb[i]};
        if (row.y < -1) {
            const int s = -2 - row.y;
            passed_on = first || lane == 0 ? K : K + before;
            K = lost = 0;
            if (last && text >= 0 && (out.wanted == 0 || (out.wanted == 1 ? s <= text : s == text))) {
                Real* where = out.K + (out.wanted == 2 ? text : s * out.stride + text);
                *where = continued ? *where + passed_on : passed_on;
            }
        }
    }
    __syncwarp();
}

extern "C" __global__ void __launch_bounds__(32, WARPS)
compare(const Constants constants, const int* column_symbol, const Real* c, const Real* inverse, const Real* past,
        const int2* column_lane, const int2* row_symbol, const Two* row_gap, const Two* row_q, Real* K, long long stride, int wanted,
        const Job* jobs, int n_jobs, int* next_job, Real* edges, long long edge_size) {
    const Columns columns{column_symbol, c, inverse, past, column_lane};
    const Rows rows{row_symbol, row_gap, row_q};
    const Output out{K, stride, wanted};
    Real* edge = edges + blockIdx.x * edge_size;
    while (true) {
        int k = threadIdx.x == 0 ? atomicAdd(next_job, 1) : 0;
        k = __shfl_sync(kAll, k, 0);
        if (k >= n_jobs) return;
        const Job job = jobs[k];
        for (int tile = job.first_tile; tile < job.first_tile + job.n_tiles; ++tile)
            pass(constants, columns, rows, out, job, tile, edge);
    }
}

// From the order of lengths to the caller's, times a factor of each row and column, fraction · 2^exponent.
extern "C" __global__ void arrange(const Real* K, long long stride, int symmetric, const int* row_rank, const int* column_rank,
                                   long long n_rows, long long n_columns, const double* row_fraction, const long long* row_exponent,
                                   const double* column_fraction, const long long* column_exponent, double factor,
                                   long long exponent, double* out) {
    for (long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x; at < n_rows * n_columns;
         at += (long long)gridDim.x * blockDim.x) {
        const long long i = at / n_columns, j = at % n_columns;
        int s = row_rank[i], t = column_rank[j];
        if (symmetric && s > t) { const int swapped = s; s = t, t = swapped; }
        double fraction = factor * double(K[s * stride + t]);
        long long shift = exponent;
        if (row_fraction) {
            fraction *= row_fraction[i] * column_fraction[j];
            shift += row_exponent[i] + column_exponent[j];
        }
        double number = ldexp(fraction, int(shift < -5000 ? -5000 : shift > 5000 ? 5000 : shift));
        const bool same = symmetric && i == j && number > 0;
        if (row_fraction && (number > 1 || same) && number < 1.001) number = 1;  // but for rounding it is
        out[at] = number;
    }
}
