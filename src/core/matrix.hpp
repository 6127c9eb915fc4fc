// Rows of weighted terms: a sparse matrix, what its entries weigh, and how they come in order.
#pragma once

#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "buffer.hpp"
#include "unicode.hpp"

namespace textmargin {

struct Matrix {
    std::vector<int64_t> indptr;
    Buffer<int32_t> indices;
    Buffer<double> data;

    void add_up() {  // from how many entries rows have to where they begin
        for (size_t i = 1; i < indptr.size(); ++i) indptr[i] += indptr[i - 1];
    }
    void allocate() {
        indices = Buffer<int32_t>(size_t(indptr.back())), data = Buffer<double>(size_t(indptr.back()));
    }
};

// Columns in order: a bit for each that is there, and a bit for 64 of these.
class ColumnSet {
    std::vector<u64> bits_, groups_;

  public:
    explicit ColumnSet(size_t n_columns) : bits_(n_columns / 64 + 1), groups_(bits_.size() / 64 + 1) {}
    void add(u32 column) {
        bits_[column >> 6] |= u64{1} << (column & 63);
        groups_[column >> 12] |= u64{1} << (column >> 6 & 63);
    }
    template <class F>
    void take(F&& f) {  // f(column), and none is left
        for (size_t i = 0; i < groups_.size(); ++i)
            for (u64 x = std::exchange(groups_[i], 0); x; x &= x - 1) {
                const size_t j = i << 6 | size_t(std::countr_zero(x));
                for (u64 y = std::exchange(bits_[j], 0); y; y &= y - 1) f(u32(j << 6 | size_t(std::countr_zero(y))));
            }
    }
};

// Weights as NumPy and scikit-learn compute them: sums in the order of the row.
struct Weights {
    const double *idf, *tf;  // per column; per count
    u32 n_tf;                // counts from here on are not in tf
    bool unit;               // whether rows have length 1

    double weigh(u32 column, u32 count, double& value) const {
        value = tf[count] * idf[column];
        return value * value;
    }
    void scale(double sum, double* values, size_t n) const {
        if (!unit || sum == 0) return;
        const double length = std::sqrt(sum);
        for (size_t j = 0; j < n; ++j) values[j] /= length;
    }
};

}  // namespace textmargin
