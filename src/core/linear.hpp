// What the vector levels share with the linear solver for many classes: plain data, as `engine.hpp` has it for strings.
#pragma once

#include <cstddef>
#include <cstdint>

namespace textmargin {

struct Entry {
    int32_t column;
    float value;
};

// A sparse matrix by rows, column and value of an entry side by side: one line of the cache has both.
struct Entries {
    size_t n_rows, n_columns;
    const int64_t* start;
    const Entry* entry;
};

// The rows that a class's next step works on: entries begin[i] … end[i] − 1. Copied out, their columns are numbered 0, 1, 2, ...
struct ActiveRows {
    size_t n_rows, n_columns;
    const int64_t *begin, *end;
    const Entry* entry;
    const float *costs, *errors;  // c and y∘shortfall of each row
    const float* Z;               // n_extra columns, each `column_size` after the one before
    size_t column_size;

    ActiveRows part(size_t first, size_t last) const {
        return {last - first, n_columns, begin + first, end + first, entry, costs + first, errors + first, Z + first, column_size};
    }
};

constexpr size_t kMostExtra = 3;  // columns beside the weights: the intercept, and priors whose trust moves

// In the coefficients q of the columns Z: the inverse of M = Z'CZ + diag(ρ), and the gradient.
struct Extra {
    size_t n;
    double M_inverse[kMostExtra * kMostExtra];
    double gradient[kMostExtra];
};

// Vectors as long as the active columns; `sums`, Z'CX, has n_extra of them. `chunk` has 2 + n_extra: sums over some rows, to be added
// to the sums over all, since millions of rows one by one are more than single precision can add up.
struct Vectors {
    float *w, *p, *residual, *diagonal, *direction, *image, *sums, *chunk;
    static size_t size(size_t n_columns, size_t n_extra) { return (8 + 2 * n_extra) * n_columns; }
    static Vectors in(float* at, size_t d, size_t n_extra) {
        return {at, at + d, at + 2 * d, at + 3 * d, at + 4 * d, at + 5 * d, at + 6 * d, at + (6 + n_extra) * d};
    }
};

// Conjugate gradients on the way.
struct Descent {
    double norm, enough, promised;
    int n_steps, max_steps;
    bool ended;
};

struct Step {
    double decrement;  // twice what the quadratic falls, but for the columns that no active row touches
    double q[kMostExtra];
    int n_steps;
    double residual;  // what is left of the gradient, in the preconditioner's norm
    bool precise;     // whether the precision asked for was reached
};

constexpr size_t kMostVariables = 1 + kMostExtra;

// Texts to search on, in multiples of kTogether, the last of them of cost 0. Variables are those of `plane.hpp`.
struct SearchRows {
    static constexpr size_t kTogether = 8;
    size_t n, n_variables;
    const double *shortfall, *costs;
    const double* D[kMostVariables];
};

// The loss at a point, its gradient (negated) and the lower triangle of its Hessian.
struct SearchSums {
    double loss, pushed[kMostVariables], bent[kMostVariables * kMostVariables];
};

struct Products {
    double first, cross, second;  // a'a, a'b, b'b
};

struct LinearLevel {
    const char* name;
    Products (*products)(const float* a, const float* b, size_t n);
    void (*add)(float t, const float* x, float* out, size_t n);  // out += t·x
    // out (last − first, width) = rows first … last − 1 of X times D (n_columns, width); width is 1 or a multiple of 8.
    void (*scores)(const Entries& X, const float* D, size_t width, size_t first, size_t last, float* out);
    // How far each text may miss its margin on the way: the larger of where it is and where t times the move brings it.
    void (*reach)(const int8_t* sign, const float* goal, const float* scores, const float* move, size_t n, float t, float* out);
    SearchSums (*search)(const SearchRows& texts, const double* theta);
    // Newton's direction, into p, by conjugate gradients. Of the active rows these need X'Ce, diag(X'CX) and Z'CX, which `sum_rows` adds
    // to residual, diagonal and sums, and once a step X'CX times the direction, which `add_product` adds to the image. Who has the rows
    // elsewhere has them do so there.
    void (*sum_rows)(const ActiveRows& X, size_t n_extra, const Vectors& v);
    void (*add_product)(const ActiveRows& X, const Vectors& v);
    Descent (*begin)(size_t n_columns, const Extra& extra, double penalty, double precision, int max_steps, const Vectors& v);
    void (*step)(size_t n_columns, const Extra& extra, double penalty, const Vectors& v, Descent& descent);
    Step (*end)(size_t n_columns, const Extra& extra, const Vectors& v, const Descent& descent);
};

const LinearLevel& linear_baseline();
const LinearLevel& linear_avx2();
const LinearLevel& linear_avx512();

}  // namespace textmargin
