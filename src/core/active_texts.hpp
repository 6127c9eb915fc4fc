// The active rows of some classes on one of several machines: what conjugate gradients elsewhere ask of them.
#pragma once

#include <numeric>
#include <span>
#include <vector>

#include "local_texts.hpp"

namespace textmargin {

// Vectors of all classes lie one after the other, each as long as the columns that the class's rows touch here.
class ActiveTexts {
  public:
    struct Rows {
        std::vector<int64_t> rows;
        std::vector<float> costs, errors, Z;
    };

    // `room` is how many entries may be copied; beyond, rows are read where they are.
    ActiveTexts(const LinearLevel& level, const Entries& X, std::vector<Rows> classes, size_t n_extra, size_t room)
        : level_(level), X_(X), classes_(std::move(classes)), n_extra_(n_extra), copies_(classes_.size()), ends_(1, 0) {
        std::vector<int32_t> number;
        for (size_t k = 0; k < classes_.size(); ++k) {
            const size_t n_entries = count_entries(X, classes_[k].rows);
            if (n_entries <= room / 2) {
                copies_[k].take(X, classes_[k].rows, number, k % 2 == 1);
                room -= n_entries;
            } else {  // read where they are, on all columns
                copies_[k].columns.resize(X.n_columns);
                std::iota(copies_[k].columns.begin(), copies_[k].columns.end(), 0);
                for (const int64_t row : classes_[k].rows) copies_[k].start.push_back(X.start[row]);
                for (const int64_t row : classes_[k].rows) copies_[k].start.push_back(X.start[row + 1]);
            }
            ends_.push_back(ends_.back() + copies_[k].columns.size());
        }
    }

    size_t n_classes() const { return classes_.size(); }
    size_t n_extra() const { return n_extra_; }
    const std::vector<size_t>& ends() const { return ends_; }
    const std::vector<int32_t>& columns(size_t k) const { return copies_[k].columns; }

    // X'Ce, diag(X'CX) and Z'CX of each class.
    template <class Watch>
    void sums(float* residual, float* diagonal, float* sums, int n_threads, const Watch& watch) const {
        std::vector<size_t> all(classes_.size());
        std::iota(all.begin(), all.end(), size_t{0});
        each_class<std::vector<float>>(all, n_threads, watch, [&](size_t k, std::vector<float>& chunk) {
            const size_t d = copies_[k].columns.size();
            chunk.resize((2 + n_extra_) * d);
            RowSums(level_, rows(k), n_extra_, share_of(n_threads, classes_.size()))
                .sum_rows({nullptr, nullptr, residual + ends_[k], diagonal + ends_[k], nullptr, nullptr, sums + n_extra_ * ends_[k], chunk.data()});
        });
    }

    // X'CX times the directions of some classes, given and returned one after the other.
    template <class Watch>
    void products(const std::vector<size_t>& classes, const float* directions, float* images, int n_threads, const Watch& watch) const {
        std::vector<size_t> places(classes.size()), at(1, 0);
        std::iota(places.begin(), places.end(), size_t{0});
        for (const size_t k : classes) at.push_back(at.back() + copies_[k].columns.size());
        each_class<std::vector<float>>(places, n_threads, watch, [&](size_t place, std::vector<float>& chunk) {
            const size_t k = classes[place];
            chunk.resize(copies_[k].columns.size());
            const Vectors v{nullptr, nullptr, nullptr, nullptr, const_cast<float*>(directions) + at[place], images + at[place], nullptr, chunk.data()};
            RowSums(level_, rows(k), n_extra_, share_of(n_threads, classes.size())).add_product(v);
        });
    }

  private:
    static int share_of(int n_threads, size_t n_classes) { return std::max(1, n_threads / int(std::max<size_t>(n_classes, 1))); }

    ActiveRows rows(size_t k) const {
        const Rows& own = classes_[k];
        const RowCopy& copy = copies_[k];
        const size_t n = own.rows.size();
        const bool in_place = copy.entry.empty() && copy.columns.size() == X_.n_columns && copy.start.size() == 2 * n;
        return {n, copy.columns.size(), copy.start.data(), copy.start.data() + (in_place ? n : 1), in_place ? X_.entry : copy.entry.data(),
                own.costs.data(), own.errors.data(), own.Z.data(), n};
    }

    const LinearLevel& level_;
    const Entries X_;
    std::vector<Rows> classes_;
    const size_t n_extra_;
    std::vector<RowCopy> copies_;
    std::vector<size_t> ends_;
};

}  // namespace textmargin
