// The rows of a matrix that a Newton step works on, sparse or dense, behind two operations: dot and add
// (add: out += a·row; with squares, also squares += b·row² for the diagonal of a Hessian).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace textmargin {

// A compressed sparse row matrix as SciPy keeps it.
template <class Index>
struct Csr {
    const Index* start;
    const Index* column;
    const double* value;
    size_t n_columns;
};

// Some rows of a Csr with the columns they touch numbered 0, 1, 2, ...: vectors stay as short as the texts allow.
class SparseRows {
  public:
    template <class Index>
    SparseRows(const Csr<Index>& X, std::span<const int64_t> rows) : start_{0} {
        std::vector<int32_t> number(X.n_columns, -1);
        size_t n_values = 0;
        for (const int64_t i : rows) n_values += X.start[i + 1] - X.start[i];
        start_.reserve(rows.size() + 1);
        column_.resize(n_values);
        value_.resize(n_values);
        size_t filled = 0;
        for (const int64_t i : rows) {
            for (Index k = X.start[i]; k < X.start[i + 1]; ++k) {
                int32_t& local = number[X.column[k]];
                if (local < 0) {
                    local = static_cast<int32_t>(columns_.size());
                    columns_.push_back(X.column[k]);
                }
                column_[filled] = local;
                value_[filled++] = X.value[k];
            }
            start_.push_back(filled);
        }
    }

    size_t size() const { return start_.size() - 1; }
    std::span<const int64_t> columns() const { return columns_; }  // local number -> column of the matrix

    double dot(size_t i, const double* v) const {
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (size_t k = start_[i]; k < start_[i + 1]; ++k) sum += value_[k] * v[column_[k]];
        return sum;
    }
    void add(size_t i, double a, double* out) const {
        for (size_t k = start_[i]; k < start_[i + 1]; ++k) out[column_[k]] += a * value_[k];
    }
    void add(size_t i, double a, double* out, double b, double* squares) const {
        for (size_t k = start_[i]; k < start_[i + 1]; ++k) {
            out[column_[k]] += a * value_[k];
            squares[column_[k]] += b * value_[k] * value_[k];
        }
    }

  private:
    std::vector<size_t> start_;
    std::vector<int32_t> column_;
    std::vector<double> value_;
    std::vector<int64_t> columns_;
};

// Some rows of a dense row-major matrix, read in place.
class DenseRows {
  public:
    DenseRows(const double* X, size_t n_columns, std::span<const int64_t> rows)
        : X_(X), rows_(rows), columns_(n_columns) {
        for (size_t j = 0; j < n_columns; ++j) columns_[j] = static_cast<int64_t>(j);
    }

    size_t size() const { return rows_.size(); }
    std::span<const int64_t> columns() const { return columns_; }

    double dot(size_t i, const double* v) const {
        const double* x = row(i);
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (size_t j = 0; j < columns_.size(); ++j) sum += x[j] * v[j];
        return sum;
    }
    void add(size_t i, double a, double* out) const {
        const double* x = row(i);
        for (size_t j = 0; j < columns_.size(); ++j) out[j] += a * x[j];
    }
    void add(size_t i, double a, double* out, double b, double* squares) const {
        const double* x = row(i);
        for (size_t j = 0; j < columns_.size(); ++j) {
            out[j] += a * x[j];
            squares[j] += b * x[j] * x[j];
        }
    }

  private:
    const double* row(size_t i) const { return X_ + static_cast<size_t>(rows_[i]) * columns_.size(); }

    const double* X_;
    std::span<const int64_t> rows_;
    std::vector<int64_t> columns_;
};

}  // namespace textmargin
