// A sparse matrix in single precision, in memory or in files that are mapped to it, and sums over it in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "linear.hpp"
#include "mapped_file.hpp"
#include "work.hpp"

namespace textmargin {

class SparseTexts {
  public:
    SparseTexts(std::vector<int64_t> start, std::vector<Entry> entry, size_t n_columns)
        : start_(std::move(start)), entry_(std::move(entry)), view_{start_.size() - 1, n_columns, start_.data(), entry_.data()} {}

    // The two files are `starts` and `entries` of a matrix, as they are in memory.
    SparseTexts(const std::string& starts, const std::string& entries, size_t n_columns)
        : starts_file_(std::make_unique<MappedFile>(starts)), entries_file_(std::make_unique<MappedFile>(entries)) {
        const size_t n = starts_file_->size() / sizeof(int64_t);
        const auto* start = static_cast<const int64_t*>(starts_file_->data());
        if (n == 0 || starts_file_->size() % sizeof(int64_t) || start[0] != 0 || !std::is_sorted(start, start + n) ||
            entries_file_->size() % sizeof(Entry) || size_t(start[n - 1]) != entries_file_->size() / sizeof(Entry))
            throw std::invalid_argument(starts + " and " + entries + " do not fit together");
        view_ = {n - 1, n_columns, start, static_cast<const Entry*>(entries_file_->data())};
    }

    const Entries& view() const { return view_; }
    size_t n_entries() const { return size_t(view_.start[view_.n_rows]); }

    // out (n_rows, k) = X W' for W (k, n_columns); with sizes, |X||W'|.
    template <class Watch>
    void times(const double* W, size_t k, bool sizes, double* out, int n_threads, const Watch& watch) const {
        std::vector<double> by_column(view_.n_columns * k);
        for (size_t a = 0; a < k; ++a)
            for (size_t j = 0; j < view_.n_columns; ++j) {
                const double w = W[a * view_.n_columns + j];
                by_column[j * k + a] = sizes ? std::abs(w) : w;
            }
        each_block(n_threads, watch, [&](size_t first, size_t last) {
            for (size_t i = first; i < last; ++i) {
                double* own = out + i * k;
                for (int64_t e = view_.start[i]; e < view_.start[i + 1]; ++e) {
                    const double x = sizes ? std::abs(view_.entry[e].value) : view_.entry[e].value;
                    const double* w = by_column.data() + size_t(view_.entry[e].column) * k;
                    for (size_t a = 0; a < k; ++a) own[a] += x * w[a];
                }
            }
        });
    }

    // out (k, n_columns) = A'X for A (n_rows, k): one thread, so that sums are the same on every machine.
    template <class A, class Watch>
    void transposed_times(const A* given, size_t k, double* out, const Watch& watch) const {
        each_block(1, watch, [&](size_t first, size_t last) {
            for (size_t i = first; i < last; ++i)
                for (int64_t e = view_.start[i]; e < view_.start[i + 1]; ++e) {
                    double* own = out + size_t(view_.entry[e].column) * k;
                    for (size_t a = 0; a < k; ++a) own[a] += double(given[i * k + a]) * view_.entry[e].value;
                }
        });
    }

    // visit(first, last) for runs of rows.
    template <class Watch, class Visit>
    void each_block(int n_threads, const Watch& watch, const Visit& visit) const {
        constexpr size_t kBlock = 1024;
        Progress progress;
        auto make_worker = [&] {
            return [&](size_t unit) { visit(unit * kBlock, std::min((unit + 1) * kBlock, view_.n_rows)); };
        };
        share_work((view_.n_rows + kBlock - 1) / kBlock, n_threads, progress, make_worker, watch);
    }

  private:
    std::vector<int64_t> start_;
    std::vector<Entry> entry_;
    std::unique_ptr<MappedFile> starts_file_, entries_file_;
    Entries view_{};
};

}  // namespace textmargin
