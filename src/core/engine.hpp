// What the vector levels (baseline, AVX2, AVX-512) share with the code that hands them work: plain data, as good as no code, because
// the levels are compiled with different instruction sets and must not lend each other functions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace textmargin {

// Two texts to compare, as codes from 0. Of a text from which symbols were taken out, `after` has the cost of those that stood
// between each symbol and the next; null: none.
struct Pair {
    const int32_t* s;
    size_t n_s;
    const int32_t* t;
    size_t n_t;
    const double* s_after;
    const double* t_after;
};

// K_length, or with weights K_length + Σ weights[i − 1]·K_i for i = 2 … length − 1; K_1 needs no recurrence and is left to the
// caller. Skipping symbol x costs gap[x], and each of its matches is worth match[x] ≤ 1. The paper's kernel has gap λ; its
// match λ² is a factor λ²ⁱ of K_i that the caller applies where it would underflow here.
struct Recipe {
    int length;
    const double* gap;
    const double* match;
    const double* weights;
    bool uniform;  // every symbol has the gap and match of symbol 0
    double largest_gap;
    size_t n_symbols;

    double first_weight() const { return length == 1 ? 1.0 : weights ? weights[0] : 0.0; }  // of K_1
};

// One precision at one level: compares `lanes` pairs at once.
struct Engine {
    int lanes;
    size_t (*scratch_bytes)(const Recipe&, size_t n_rows);
    // Writes K·2^(−exponent) of each pair; false if it was stopped. n_s of no pair may exceed n_rows of the scratch memory,
    // which is aligned to 64 bytes.
    bool (*compare)(const Pair* pairs, const Recipe&, void* scratch, const bool* stop, double* K, int* exponent);
};

struct Level {
    const char* name;
    Engine single, twice;
};

const Level& level_baseline();
const Level& level_avx2();
const Level& level_avx512();

}  // namespace textmargin
