// The texts of the linear solver where they can be addressed: in memory, or in a file that is mapped to it.
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <vector>

#include "many.hpp"

namespace textmargin {

// Some rows, copied out with their columns renumbered in the order in which they are met: frequent ones first, and close together.
struct RowCopy {
    std::vector<int32_t> columns;  // that they touch
    std::vector<int64_t> start;
    std::vector<Entry> entry;

    // `backwards` says from which end they are read, not in which order they lie.
    void take(const Entries& X, const std::vector<int64_t>& rows, std::vector<int32_t>& number, bool backwards = false) {
        const size_t n = rows.size();
        number.resize(X.n_columns, -1);
        columns.clear(), start.assign(1, 0);
        for (const int64_t row : rows) start.push_back(start.back() + X.start[row + 1] - X.start[row]);
        entry.resize(size_t(start.back()));
        constexpr size_t kBefore = 6;  // rows lie anywhere: ask for them before they are needed
        for (size_t step = 0; step < n; ++step) {
            if (step + kBefore < n) {
                const int64_t next = rows[backwards ? n - 1 - step - kBefore : step + kBefore];
                for (int64_t e = X.start[next]; e < X.start[next + 1]; e += 8) __builtin_prefetch(X.entry + e);
            }
            const size_t r = backwards ? n - 1 - step : step;
            Entry* out = entry.data() + start[r];
            for (int64_t e = X.start[rows[r]]; e < X.start[rows[r] + 1]; ++e) {
                int32_t& local = number[X.entry[e].column];
                if (local < 0) local = int32_t(columns.size()), columns.push_back(X.entry[e].column);
                *out++ = {local, X.entry[e].value};
            }
        }
        for (const int32_t column : columns) number[column] = -1;
    }
};

inline size_t count_entries(const Entries& X, const std::vector<int64_t>& rows) {
    size_t n_entries = 0;
    for (const int64_t row : rows) n_entries += size_t(X.start[row + 1] - X.start[row]);
    return n_entries;
}

// Sums over the active rows of a class. Many rows are summed up in parts, by several threads; how many parts depends on the rows
// alone, so that sums are the same for any number of threads.
class RowSums {
  public:
    RowSums(const LinearLevel& level, const ActiveRows& X, size_t n_extra, int n_threads)
        : level_(level), X_(X), n_extra_(n_extra), n_parts_(count_parts(X)), n_threads_(n_threads) {}

    void sum_rows(const Vectors& v) {
        const size_t d = X_.n_columns, width = 2 + n_extra_;
        if (n_parts_ == 1) return level_.sum_rows(X_, n_extra_, v);
        each_part(2 * width, [&](const ActiveRows& rows, float* at) {
            level_.sum_rows(rows, n_extra_, {nullptr, nullptr, at, at + d, nullptr, nullptr, at + 2 * d, at + width * d});
        });
        for (size_t part = 0; part < n_parts_; ++part) {
            const float* at = parts_.data() + part * 2 * width * d;
            level_.add(1, at, v.residual, d), level_.add(1, at + d, v.diagonal, d), level_.add(1, at + 2 * d, v.sums, n_extra_ * d);
        }
    }

    void add_product(const Vectors& v) {
        const size_t d = X_.n_columns;
        if (n_parts_ == 1) return level_.add_product(X_, v);
        each_part(2, [&](const ActiveRows& rows, float* at) {
            level_.add_product(rows, {nullptr, nullptr, nullptr, nullptr, v.direction, at, nullptr, at + d});
        });
        for (size_t part = 0; part < n_parts_; ++part) level_.add(1, parts_.data() + part * 2 * d, v.image, d);
    }

  private:
    static constexpr size_t kLeast = 1 << 15, kMost = 16, kMostColumns = 1 << 23;  // rows of a part; parts, and columns of all parts

    static size_t count_parts(const ActiveRows& X) {
        const size_t most = std::clamp<size_t>(kMostColumns / std::max<size_t>(X.n_columns, 1), 1, kMost);
        return std::clamp<size_t>(X.n_rows / kLeast, 1, most);
    }

    // visit(rows, vectors) for each part, where `vectors` are some that are 0.
    template <class Visit>
    void each_part(size_t n_vectors, const Visit& visit) {
        const size_t size = n_vectors * X_.n_columns;
        parts_.assign(n_parts_ * size, 0.f);
        auto work = [&](size_t part) {
            const size_t first = X_.n_rows * part / n_parts_, last = X_.n_rows * (part + 1) / n_parts_;
            visit(X_.part(first, last), parts_.data() + part * size);
        };
        if (n_threads_ > 1) {
            Progress progress;
            share_work(n_parts_, n_threads_, progress, [&] { return work; }, [] {});
        } else
            for (size_t part = 0; part < n_parts_; ++part) work(part);
    }

    const LinearLevel& level_;
    const ActiveRows X_;
    const size_t n_extra_, n_parts_;
    const int n_threads_;
    std::vector<float> parts_;
};

class LocalTexts {
  public:
    // Active rows are copied out, to be close together, their columns renumbered; no more than `most_copied` entries at a time. Where
    // that would be half of the matrix they are read where they are.
    LocalTexts(const LinearLevel& level, const Entries& X, size_t most_copied, int n_threads)
        : level_(level), X_(X), most_copied_(most_copied), n_threads_(n_threads) {}

    size_t n_rows() const { return X_.n_rows; }
    size_t n_columns() const { return X_.n_columns; }

    template <class Watch>
    void multiply(const std::vector<size_t>& classes, const float* D, float* out, const Watch& watch) {
        const size_t n = classes.size(), d = X_.n_columns, width = n == 1 ? 1 : (n + 7) / 8 * 8;
        by_column_.resize(d * width);
        Progress layout, product;
        const size_t side = 512;
        auto transpose = [&] {
            return [&](size_t unit) {
                const size_t from = unit * side, to = std::min(from + side, d);
                for (size_t j = from; j < to; ++j) std::fill_n(by_column_.data() + j * width + n, width - n, 0.f);
                for (size_t a = 0; a < n; ++a) {
                    const float* own = D + classes[a] * d;
                    for (size_t j = from; j < to; ++j) by_column_[j * width + a] = own[j];
                }
            };
        };
        share_work((d + side - 1) / side, n_threads_, layout, transpose, watch);
        const size_t n_blocks = (X_.n_rows + kBlock - 1) / kBlock;
        backwards_ = !backwards_;
        auto multiply_rows = [&] {
            return [&, block = std::vector<float>(kBlock * width)](size_t unit) mutable {
                const size_t first = (backwards_ ? n_blocks - 1 - unit : unit) * kBlock, last = std::min(first + kBlock, X_.n_rows);
                level_.scores(X_, by_column_.data(), width, first, last, block.data());
                for (size_t a = 0; a < n; ++a)
                    for (size_t i = first; i < last; ++i) out[classes[a] * X_.n_rows + i] = block[(i - first) * width + a];
            };
        };
        share_work(n_blocks, n_threads_, product, multiply_rows, watch);
    }

    // Most texts of a class have in its sum the same multiple of their weight; the sum of all by their weight is worked out once.
    template <class Push, class Watch>
    void descend(const std::vector<size_t>& classes, const Push& push, const float* weight, float* p, const Watch& watch) {
        const size_t n = X_.n_rows, d = X_.n_columns;
        std::vector<double> sum(d, 0.0);
        for (size_t i = 0; i < n; ++i)
            for (int64_t k = X_.start[i]; k < X_.start[i + 1]; ++k) sum[X_.entry[k].column] += double(weight[i]) * X_.entry[k].value;
        each_class<std::vector<double>>(classes, n_threads_, watch, [&](size_t k, std::vector<double>& own) {
            const double common = usual_push(k, push, weight);
            own.resize(d);
            for (size_t j = 0; j < d; ++j) own[j] = common * sum[j];
            for (size_t i = 0; i < n; ++i) {
                const double full = push(k, i), usual = common * weight[i], more = full - usual;
                if (std::abs(more) <= 1e-6 * std::abs(usual)) continue;
                for (int64_t e = X_.start[i]; e < X_.start[i + 1]; ++e) own[X_.entry[e].column] += more * X_.entry[e].value;
            }
            std::copy(own.begin(), own.end(), p + k * d);
        });
    }

    // Classes that share a table are learnt without few texts each: most of their active rows are the same, and copied once.
    template <class Solver, class Watch>
    void directions(const std::vector<size_t>& classes, Solver& solver, const Watch& watch) {
        std::vector<std::vector<size_t>> groups;
        for (const size_t k : classes)
            if (!groups.empty() && solver.table(groups.back()[0]) == solver.table(k)) groups.back().push_back(k);
            else groups.push_back({k});
        std::vector<size_t> places(groups.size());
        std::iota(places.begin(), places.end(), size_t{0});
        const size_t at_a_time = std::clamp<size_t>(groups.size(), 1, size_t(n_threads_));
        const int each = n_threads_ / int(at_a_time);  // threads, where groups are few
        each_class<Scratch>(places, n_threads_, watch, [&](size_t g, Scratch& scratch) {
            take_active(groups[g], std::min(most_copied_ / at_a_time, size_t(X_.start[X_.n_rows]) / 2), g % 2 == 1, solver, scratch);
            for (const size_t k : groups[g]) {
                if (groups[g].size() > 1) solver.activate(k, scratch.active);  // those of all at once would be too many
                direction(k, solver, scratch, each);
            }
        });
    }

  private:
    struct Scratch {
        Active active;                    // of one class of a group
        std::vector<int64_t> rows;        // of any of them
        bool copies;                      // whether these were copied out
        RowCopy copy;
        std::vector<int32_t> number;
        std::vector<int64_t> start, end;
        std::vector<float> vectors;
    };
    static constexpr size_t kBlock = 64;

    // What a text of the larger side pushes by, beside its weight.
    template <class Push>
    double usual_push(size_t k, const Push& push, const float* weight) const {
        size_t n_negative = 0;
        for (size_t i = 0; i < X_.n_rows; ++i) n_negative += push(k, i) < 0;
        const bool negative = 2 * n_negative > X_.n_rows;
        for (size_t i = 0; i < X_.n_rows; ++i) {
            const double own = push(k, i);
            if (weight[i] > 0 && (negative ? own < 0 : own > 0)) return own / weight[i];
        }
        return 0;
    }

    template <class Solver>
    void take_active(const std::vector<size_t>& group, size_t most_copied, bool backwards, Solver& solver, Scratch& scratch) const {
        scratch.rows.clear();
        for (const size_t k : group) {
            solver.activate(k, scratch.active);
            std::vector<int64_t> joined;
            std::set_union(scratch.rows.begin(), scratch.rows.end(), scratch.active.rows.begin(), scratch.active.rows.end(),
                           std::back_inserter(joined));
            scratch.rows.swap(joined);
        }
        scratch.copies = count_entries(X_, scratch.rows) <= most_copied;
        if (scratch.copies) scratch.copy.take(X_, scratch.rows, scratch.number, backwards);
    }

    // Newton's, for one class.
    template <class Solver>
    void direction(size_t k, Solver& solver, Scratch& scratch, int n_threads) const {
        auto& [active, all_rows, copies, copy, number, start, end, vectors] = scratch;
        const size_t n_extra = active.extra.n;
        start.clear(), end.clear();
        size_t at = 0;  // among the rows that were copied
        for (const int64_t row : active.rows) {
            if (copies)
                while (all_rows[at] != row) ++at;
            start.push_back(copies ? copy.start[at] : X_.start[row]);
            end.push_back(copies ? copy.start[at + 1] : X_.start[row + 1]);
        }
        const size_t d = copies ? copy.columns.size() : X_.n_columns;
        vectors.assign(Vectors::size(d, n_extra), 0.f);
        const Vectors v = Vectors::in(vectors.data(), d, n_extra);
        const float* w = solver.weights(k);
        for (size_t j = 0; j < d; ++j) v.w[j] = w[copies ? size_t(copy.columns[j]) : j];
        const ActiveRows rows{active.rows.size(), d, start.data(), end.data(), copies ? copy.entry.data() : X_.entry,
                              active.costs.data(), active.errors.data(), active.Z.data(), active.rows.size()};
        RowSums sums(level_, rows, n_extra, n_threads);
        sums.sum_rows(v);
        Descent descent = level_.begin(d, active.extra, solver.penalty(), active.precision, kMaxSteps, v);
        while (!descent.ended) {
            std::fill_n(v.image, d, 0.f);
            sums.add_product(v);
            level_.step(d, active.extra, solver.penalty(), v, descent);
        }
        const Step step = level_.end(d, active.extra, v, descent);
        solver.set_direction(k, step, v.w, v.p, copies ? copy.columns.data() : nullptr, d);
    }

    const LinearLevel& level_;
    const Entries X_;
    const size_t most_copied_;
    const int n_threads_;
    std::vector<float> by_column_;
    bool backwards_ = true;  // which end a pass begins at: of a file larger than memory, where the last one ended, is still there
};

}  // namespace textmargin
