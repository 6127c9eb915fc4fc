// New texts looked up in a vocabulary, as rows of a matrix or straight to scores.
#pragma once

#include <span>

#include "vocabulary.hpp"

namespace textmargin {

// The row of a text: columns in order, and counts. Of one thread.
class TextRow {
    const Vocabulary& own_;
    Splitter split_;
    ColumnSet set_;
    std::vector<u32> count_;   // per column, in this text
    std::vector<u32> met_;     // columns, in the order they were met
    std::vector<u32> words_, sequences_;

  public:
    std::vector<u32> columns, counts;
    std::vector<double> values;
    u32 most = 0;

    explicit TextRow(const Vocabulary& own)
        : own_(own), split_(own.analyzer), set_(own.n_columns() + 1), count_(own.n_columns() + 1) {}

    void look_up(Text text) {
        const Analyzer& analyzer = own_.analyzer;
        const TermTable& table = own_.table();
        const u32 nowhere = own_.n_columns();  // one column more, for what has none
        const bool sequences = !analyzer.by_characters() && analyzer.max_n > 1;
        size_t n_words = 0, n_met = 0;
        split_(text, [&](const Key* keys, size_t n) {
            if (met_.size() < n_met + n) met_.resize((n_met + n) * 2);
            if (sequences && words_.size() < n_words + n) words_.resize((n_words + n) * 2);
            for (size_t k = 0; k < n; ++k) table.prefetch(keys[k]);
            for (size_t k = 0; k < n; ++k) {
                const Slot& slot = table.find(keys[k]);
                if (sequences) words_[n_words] = slot.id, n_words += slot.id >= own_.n_stop();
                count(std::min(slot.column, nowhere), n_met);
            }
        });
        if (sequences) look_up_sequences(n_words, nowhere, n_met);
        for (size_t k = 0; k < n_met; ++k) set_.add(met_[k]);
        columns.resize(n_met), counts.resize(n_met);
        size_t at = 0;
        most = 0;
        set_.take([&](u32 column) {
            const u32 count = std::exchange(count_[column], 0);
            if (column == nowhere) return;
            columns[at] = column, counts[at++] = count;
            most = std::max(most, count);
        });
        columns.resize(at), counts.resize(at);
    }

    // The weights of what was looked up.
    void weigh(const Weights& weights) {
        double sum = 0;
        values.resize(columns.size());
        for (size_t j = 0; j < columns.size(); ++j) sum += weights.weigh(columns[j], counts[j], values[j]);
        weights.scale(sum, values.data(), values.size());
    }

    void drop_zeros() {
        size_t at = 0;
        for (size_t j = 0; j < values.size(); ++j) columns[at] = columns[j], values[at] = values[j], at += values[j] != 0;
        columns.resize(at), values.resize(at);
    }

  private:
    void count(u32 column, size_t& n_met) { met_[n_met] = column, n_met += count_[column]++ == 0; }

    void look_up_sequences(size_t n_words, u32 nowhere, size_t& n_met) {
        sequences_.assign(words_.begin(), words_.begin() + ptrdiff_t(n_words));
        for (u32 n = 2; n <= own_.analyzer.max_n && n_words >= n; ++n) {
            if (met_.size() < n_met + n_words) met_.resize((n_met + n_words) * 2);
            for (size_t i = 0; i + n <= n_words; ++i) {
                const bool known = sequences_[i] != NONE && words_[i + n - 1] != NONE;
                const Slot* slot = known ? &own_.table().find(Key::sequence(sequences_[i], words_[i + n - 1])) : nullptr;
                sequences_[i] = known ? slot->id : NONE;
                if (known) count(std::min(slot->column, nowhere), n_met);
            }
        }
    }
};

// Of several threads.
inline u32 raise(std::atomic<u32>& most, u32 count) {
    for (u32 seen = most.load(std::memory_order_relaxed); count > seen && !most.compare_exchange_weak(seen, count);) continue;
    return count;
}

// The matrix of new texts, and the highest count in it: where that is not in `weights.tf`, rows are missing.
template <class Source, class Watch>
std::pair<Matrix, u32> transform(const Vocabulary& vocabulary, const Source& source, const Weights& weights, bool drop_zeros,
                                 int n_threads, const Watch& watch) {
    struct Part {
        size_t first = 0;
        Buffer<int32_t> indices;
        Buffer<double> data;
    };
    Matrix matrix;
    matrix.indptr.assign(source.size() + 1, 0);
    const auto ends = portions(source);
    const bool in_order = n_threads == 1;  // all in one part
    std::vector<Part> parts(in_order ? 1 : ends.size());
    std::atomic<u32> most{0};
    for_portions(
        source, ends, n_threads,
        [&] {
            return [&, row = TextRow(vocabulary)](size_t unit, size_t from, const std::vector<Text>& texts) mutable {
                Part& part = parts[in_order ? 0 : unit];
                if (!in_order) part.first = from;
                for (size_t i = 0; i < texts.size(); ++i) {
                    row.look_up(texts[i]);
                    if (raise(most, row.most) >= weights.n_tf) continue;
                    row.weigh(weights);
                    if (drop_zeros) row.drop_zeros();
                    const size_t before = part.data.size();
                    part.indices.append(row.columns.data(), row.columns.size());
                    part.data.append(row.values.data(), row.values.size());
                    matrix.indptr[from + i + 1] = int64_t(part.data.size() - before);
                }
            };
        },
        watch);
    matrix.add_up();
    if (in_order) {
        matrix.indices = std::move(parts[0].indices), matrix.data = std::move(parts[0].data);
        return {std::move(matrix), most};
    }
    matrix.allocate();
    for (Part& part : parts) {
        const auto at = size_t(matrix.indptr[part.first]);
        std::copy_n(part.indices.data(), part.indices.size(), matrix.indices.data() + at);
        std::copy_n(part.data.data(), part.data.size(), matrix.data.data() + at);
        part = {};
    }
    return {std::move(matrix), most};
}

// Scores (texts × classes, by rows) without a matrix: sums in the order of columns, then the intercept. `coef` is columns ×
// classes, by rows. `n_terms`: how many terms each text has. Gives the highest count, as above.
template <class Source, class Watch>
u32 scores(const Vocabulary& vocabulary, const Source& source, const Weights& weights, const double* coef, std::span<const double> intercept,
           double* out, int32_t* n_terms, int n_threads, const Watch& watch) {
    const size_t n_classes = intercept.size(), line = 64 / sizeof(double);
    std::atomic<u32> most{0};
    for_portions(
        source, portions(source), n_threads,
        [&] {
            return [&, row = TextRow(vocabulary)](size_t, size_t from, const std::vector<Text>& texts) mutable {
                for (size_t i = 0; i < texts.size(); ++i) {
                    row.look_up(texts[i]);
                    if (raise(most, row.most) >= weights.n_tf) continue;
                    row.weigh(weights);
                    const size_t n = row.columns.size();
                    n_terms[from + i] = int32_t(n);
                    double* __restrict sums = out + (from + i) * n_classes;
                    for (size_t j = 0; j < n; ++j) {
                        if (j + 3 < n)  // rows of weights lie anywhere: asked for before they are needed
                            for (size_t k = 0; k < n_classes; k += line)
                                __builtin_prefetch(coef + row.columns[j + 3] * n_classes + k);
                        const double* __restrict w = coef + row.columns[j] * n_classes;
                        const double value = row.values[j];
                        for (size_t k = 0; k < n_classes; ++k) sums[k] += value * w[k];
                    }
                    for (size_t k = 0; k < n_classes; ++k) sums[k] += intercept[k];
                }
            };
        },
        watch);
    return most;
}

}  // namespace textmargin
