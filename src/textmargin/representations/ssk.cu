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
// What binds is the issue of instructions, one a cycle and scheduler (ncu on an H200, length 5: 91 % of all cycles issue one, the
// multiply-add pipes are 74 % busy, memory idles). A cell takes two multiply-adds a level, one for the sum and one comparison; ten at
// length 5, and twelve with all that a lane's edges, rows and sums take. So the form is chosen to add nothing to the ten:
// - two rows a step: then no state is copied, for Q(b, j−1) can be written where Q(a−1, j−1) was read last (see `step`);
// - a match is a predicated multiply-add, whose constants are in the instruction itself (`Weights`); from their bank,
//   and with rows fetched late, it was a seventh slower, and with branches the compiler makes 21 instructions a cell, not 13;
// - what a tile leaves at its right is fetched eight steps ahead, by the one lane that has nobody to its right.
// Most of what is left varies with how registers fall into banks, which only the compiler decides.
//
// Compiled with REAL, LEVELS (length − 1), COLUMNS, GROUP (of columns, after which c starts again), WEIGHTED (all lengths count),
// UNIFORM (all symbols have the same GAP, and then the same q, RATIO) and WARPS (that fit a multiprocessor).

typedef REAL Real;

constexpr int kLanes = 32;
constexpr unsigned kAll = 0xffffffffu;
constexpr int kGroups = COLUMNS / GROUP;
constexpr int kStates = LEVELS > 0 ? LEVELS : 1;  // of a cell; an array must not be empty
constexpr int kFirst = 1, kContinued = 2, kLast = 4;  // of a lane: its text begins here, in an earlier tile, ends in this tile here
static_assert(COLUMNS % GROUP == 0, "groups divide the columns");

// What is the same for all pairs, beside what is compiled in.
struct Constants { Real weights[kStates + 1]; };

// Texts t as tiles of columns, (tile, column, lane), with c and 1/c where symbols differ in their gaps; and of each lane its text and
// what it is of it.
struct Columns {
    const int* symbol;
    const Real *c, *inverse, *past;
    const int2* lane;
};

// Texts s as one stream of rows, two a step. A symbol below −1 ends text number −2 − symbol; −1 is like no other.
struct alignas(UNIFORM && sizeof(Real) == 4 ? 16 : 8) Row {
    int a, b;
    Real gap_a, gap_b;
#if !UNIFORM
    Real q_a, q_b;
#endif
};

struct Job { int first_tile, n_tiles, first_step, last_step, first_text, last_text; };

// What leaves a tile at its right, a step: S of both rows.
struct alignas(16) Edge { Real Sa[kStates], Sb[kStates]; };
constexpr int kAhead = 8;  // steps that edges are fetched ahead; room for a tile's before the first, and more after the last

// Which pairs are wanted, and where they go: K[s·stride + t].
struct Output {
    Real* K;
    long long stride;
    int wanted;  // 0: all; 1: s ≤ t; 2: s = t, K[t]
};

// c of a lane's columns, past·1 for the first of a group, whose left neighbour is of the group before; 1/c; and past, the product of
// the gaps of that group. Compiled in where all gaps are alike, or else in registers.
#if UNIFORM
struct Powers {
    Real c[GROUP], inverse[GROUP], past;
    constexpr Powers() : c(), inverse(), past() {
        double power = 1;
        for (int j = 0; j < GROUP; ++j, power *= GAP) c[j] = Real(power), inverse[j] = Real(1 / power);
        past = Real(power);
    }
};
__device__ constexpr Powers kPowers;
struct Weights {
    __device__ static Real c(int j) { return j && j % GROUP == 0 ? kPowers.past : kPowers.c[j % GROUP]; }
    __device__ static Real inverse(int j) { return kPowers.inverse[j % GROUP]; }
    __device__ static Real past(int) { return kPowers.past; }
};
#else
struct Weights {
    Real c_[COLUMNS], inverse_[COLUMNS], past_[kGroups];
    __device__ Real c(int j) const { return j && j % GROUP == 0 ? past_[j / GROUP] : c_[j]; }
    __device__ Real inverse(int j) const { return inverse_[j]; }
    __device__ Real past(int group) const { return past_[group]; }
};
#endif

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
__device__ __forceinline__ Real step(States& at, const int (&symbols)[COLUMNS], const Weights& weights, const Row& row,
                                     const Constants& constants) {
    Real sum = 0;
#if UNIFORM
    constexpr Real q_a = Real(RATIO), q_b = q_a;
#else
    const Real q_a = row.q_a, q_b = row.q_b;
#endif
#if LEVELS == 0
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j) sum += Real(row.a == symbols[j]) + Real(row.b == symbols[j]);
#else
    Real Qa[kStates];  // Q(a, j − 1)
#pragma unroll
    for (int i = 0; i < kStates; ++i) Qa[i] = times_and(row.gap_a, at.left[i], at.Sa[i]);
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
        add_matches(before, at.Sa, row.a, q_a);
        // Q(a − 1, j − 1) is not needed any more, and Sb still is that of column j − 1.
#pragma unroll
        for (int i = 0; i < kStates; ++i) before[i] = times_and(row.gap_b, Qa[i], at.Sb[i]);
        add_matches(Qa, at.Sb, row.b, q_b);
#pragma unroll
        for (int i = 0; i < kStates; ++i) Qa[i] = times_and(row.gap_a, at.Q[j][i], at.Sa[i]);
    }
#pragma unroll
    for (int i = 0; i < kStates; ++i) at.Q[COLUMNS - 1][i] = times_and(row.gap_b, Qa[i], at.Sb[i]);
#endif
    return sum;
}

#ifdef __CUDA_ARCH__
// Asks for an edge that will be wanted some steps later; each step asks once, so that the oldest of kAhead is there when waited for.
__device__ __forceinline__ void ask(Edge* to, const Edge* from) {
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
#pragma unroll
    for (int k = 0; k < int(sizeof(Edge)); k += 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at + k), "l"(reinterpret_cast<const char*>(from) + k) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
}
__device__ __forceinline__ void wait_for_oldest() { asm volatile("cp.async.wait_group %0;" ::"n"(kAhead - 1) : "memory"); }
__device__ __forceinline__ void wait_for_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }
// Not to be worked out anew at every step.
__device__ __forceinline__ void keep_in_register(float& x) { asm volatile("" : "+f"(x)); }
__device__ __forceinline__ void keep_in_register(double& x) { asm volatile("" : "+d"(x)); }
__device__ __forceinline__ void keep_in_register(Edge*& x) { asm volatile("" : "+l"(x)); }
#else
inline void ask(Edge* to, const Edge* from) { *to = *from; }
inline void wait_for_oldest() {}
inline void wait_for_all() {}
template <class T> void keep_in_register(T&) {}
#endif

// One tile against the texts of a job. `edge` has what the tile before left at its right, a step at a time, and takes what this one
// leaves. The last lane, whose S nobody else wants, brings it in: its right neighbour is the first.
__device__ __forceinline__ void pass(const Constants& constants, const Columns& columns, const Row* rows, const Output& out,
                                     const Job& job, int tile, Edge* edge, Edge* fetched) {
    const int lane = threadIdx.x, left = (lane + kLanes - 1) % kLanes, n_steps = job.last_step - job.first_step;
    int symbols[COLUMNS];
    Weights weights;
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
    const int2 of = columns.lane[tile * kLanes + lane];  // text, what the lane is of it
    const bool first = of.y & kFirst;
    const bool takes = LEVELS > 0 && __any_sync(kAll, lane == 0 && !first);
    const bool leaves = LEVELS > 0 && tile + 1 < job.first_tile + job.n_tiles, edges = takes || leaves;
    Real from_left = first ? Real(0) : weights.past(0);
    keep_in_register(from_left);

    States at;
    at.clear();
    if (takes && lane == kLanes - 1) {
        for (int t = 0; t < kAhead; ++t) ask(fetched + t, edge + t);
        wait_for_oldest();
#pragma unroll
        for (int i = 0; i < LEVELS; ++i) at.Sa[i] = fetched[0].Sa[i], at.Sb[i] = fetched[0].Sb[i];
    }
    Real K = 0, lost = 0, passed_on = 0;  // of this lane's columns; what rounding took from it; of those up to this lane
    const Row* row_at = rows + job.first_step - lane;
    Row next = *row_at;
    Edge* edge_at = edge;
    keep_in_register(edge_at);
    for (int t = 0; t < n_steps + kLanes - 1; ++t) {
        const Row row = next;
        next = *++row_at;  // there is one after the last
#pragma unroll
        for (int i = 0; i < LEVELS; ++i) {
            at.Sa[i] = __shfl_sync(kAll, at.Sa[i], left) * from_left;
            at.Sb[i] = __shfl_sync(kAll, at.Sb[i], left) * from_left;
        }
        const Real before = __shfl_sync(kAll, passed_on, left);
        const Real added = step(at, symbols, weights, row, constants) - lost;
        const Real sum = K + added;
        lost = (sum - K) - added;
        K = sum;
        if (edges && lane == kLanes - 1) {
            if (leaves) {
                Edge here;
#pragma unroll
                for (int i = 0; i < LEVELS; ++i) here.Sa[i] = at.Sa[i], here.Sb[i] = at.Sb[i];
                edge_at[-(kLanes - 1)] = here;  // this lane is so many steps behind
            }
            if (takes) {
                ask(fetched + t % kAhead, edge_at + kAhead);
                wait_for_oldest();
                const Edge in = fetched[(t + 1) % kAhead];
#pragma unroll
                for (int i = 0; i < LEVELS; ++i) at.Sa[i] = in.Sa[i], at.Sb[i] = in.Sb[i];
            }
        }
        ++edge_at;
        if (row.b < -1) {
            const int s = -2 - row.b, text = of.x;
            passed_on = first || lane == 0 ? K : K + before;
            K = lost = 0;
            // Lanes meet the last rows before the job's as well, and the first after them.
            const bool ours = s >= job.first_text && s < job.last_text;
            if (of.y & kLast && ours && (out.wanted == 0 || (out.wanted == 1 ? s <= text : s == text))) {
                Real* where = out.K + (out.wanted == 2 ? text : s * out.stride + text);
                *where = of.y & kContinued ? *where + passed_on : passed_on;
            }
        }
    }
    if (takes) wait_for_all();  // for what was asked for beyond the end, before the next tile asks for the same places
    __threadfence();            // edges and sums are there before the next tile asks for them
    __syncwarp();
}

extern "C" __global__ void __launch_bounds__(32, WARPS)
compare(const Constants constants, const int* column_symbol, const Real* c, const Real* inverse, const Real* past,
        const int2* column_lane, const Row* rows, Real* K, long long stride, int wanted, const Job* jobs, int n_jobs, int* next_job,
        Edge* edges, long long edge_size) {
    __shared__ Edge fetched[kAhead];
    const Columns columns{column_symbol, c, inverse, past, column_lane};
    const Output out{K, stride, wanted};
    while (true) {
        int k = threadIdx.x == 0 ? atomicAdd(next_job, 1) : 0;
        k = __shfl_sync(kAll, k, 0);
        if (k >= n_jobs) return;
        const Job job = jobs[k];
        for (int tile = job.first_tile; tile < job.first_tile + job.n_tiles; ++tile)
            pass(constants, columns, rows, out, job, tile, edges + blockIdx.x * edge_size + kLanes, fetched);
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
