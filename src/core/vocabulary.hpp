// Terms and their columns: learnt from texts or given, and texts looked up in them, as rows of a matrix or straight to scores.
#pragma once

#include <cmath>
#include <numeric>
#include <span>

#include "counting.hpp"

namespace textmargin {

constexpr size_t PORTION = 1 << 16;  // bytes that a thread takes at a time
constexpr size_t SMALL = 1 << 18;    // bytes that are not worth a thread of their own

// Runs work(number of the portion, its first text, texts) over portions of a source, which gives the texts of each when they are
// needed. Few texts are worked off on the spot.
template <class Source, class MakeWorker, class Watch>
void for_portions(const Source& source, const std::vector<size_t>& ends, int n_threads, MakeWorker make_worker, const Watch& watch) {
    auto worker_of = [&] {
        return [&, work = make_worker()](size_t unit) mutable {
            const size_t from = unit ? ends[unit - 1] : 0;
            const auto portion = source.portion(from, ends[unit]);
            work(unit, from, portion.views);
        };
    };
    if (ends.size() <= SMALL / PORTION) {
        const FlushTiny tiny;
        auto work = worker_of();
        for (size_t unit = 0; unit < ends.size(); ++unit) work(unit);
        return;
    }
    Progress progress;
    share_work(ends.size(), n_threads, progress, worker_of, watch);
}

// Texts in neighbouring portions of about as many bytes: where each ends.
template <class Source>
std::vector<size_t> portions(const Source& source) {
    std::vector<size_t> ends;
    size_t sum = 0;
    for (size_t i = 0; i < source.size(); ++i)
        if ((sum += source.length(i) + 32) >= PORTION || i + 1 == source.size()) ends.push_back(i + 1), sum = 0;
    return ends;
}

class Vocabulary {
  public:
    struct Matrix {
        std::vector<int64_t> indptr;
        Buffer<int32_t> indices;
        Buffer<double> data;
    };
    struct Frequencies {
        std::vector<int64_t> df, total;  // per term in alphabetical order
        u32 most;                        // the highest count of a term in a text
    };

    Analyzer analyzer;

    explicit Vocabulary(Analyzer own) : analyzer(std::move(own)) {
        const Counts empty(analyzer);
        table_ = empty.terms, n_stop_ = table_.size();
        column_.assign(n_stop_, NONE);
    }

    u32 n_columns() const { return n_columns_; }

    // Counts the terms of further texts.
    template <class Source, class Watch>
    void add(const Source& source, int n_threads, const Watch& watch) {
        const size_t before = n_rows_;
        if (before + source.size() >= NONE) throw std::length_error("more than 4 billion texts");
        const auto ends = portions(source);
        const size_t n_parts = ends.size() <= SMALL / PORTION ? 1 : size_t(n_threads);
        while (parts_.size() < n_parts) parts_.push_back(std::make_unique<Counts>(analyzer));
        n_rows_ += source.size();
        std::atomic<size_t> next{0};
        for_portions(
            source, ends, n_threads,
            [&] {
                return [before, part = parts_[next++].get()](size_t, size_t from, const std::vector<Text>& texts) {
                    for (size_t i = 0; i < texts.size(); ++i) part->add(u32(before + from + i), texts[i]);
                };
            },
            watch);
    }

    // Puts together what threads learnt.
    Frequencies join() {
        std::vector<u32> df, first;
        std::vector<u64> total;
        numbers_.assign(parts_.size(), {});
        u32 most = 0;
        for (size_t p = 0; p < parts_.size(); ++p) {
            Counts& part = *parts_[p];
            part.finish();
            const u32 n = part.terms.size();
            auto& number = numbers_[p];
            number.resize(n);
            if (p == 0) {
                table_ = std::move(part.terms);
                std::iota(number.begin(), number.end(), 0);
            } else {
                for (u32 id = 0; id < n; ++id) {
                    Key key = part.terms.key(id);
                    if (!key.size) key = Key::sequence(number[part.terms.parent(id)], number[part.terms.last_word(id)]);
                    table_.make_room(1);
                    number[id] = table_.get(key).id;
                }
            }
            part.terms = {};
            df.resize(table_.size()), total.resize(table_.size()), first.resize(table_.size(), NONE);
            for (u32 id = 0; id < n; ++id) {
                df[number[id]] += part.df[id], total[number[id]] += part.total[id];
                first[number[id]] = std::min(first[number[id]], part.first[id]);
            }
            most = std::max(most, part.most);
        }
        order_ = met_order(first);
        position_ = alphabetical(table_, n_stop_);
        Frequencies sums{std::vector<int64_t>(table_.size() - n_stop_), std::vector<int64_t>(table_.size() - n_stop_), most};
        for (u32 id = n_stop_; id < table_.size(); ++id)
            sums.df[position_[id]] = df[id], sums.total[position_[id]] = int64_t(total[id]);
        return sums;
    }

    // Per term in alphabetical order, how many were met before it.
    std::vector<int64_t> order() const {
        std::vector<int64_t> by_position(table_.size() - n_stop_);
        for (u32 id = n_stop_; id < table_.size(); ++id) by_position[position_[id]] = order_[id];
        return by_position;
    }

    // The matrix of the texts that were learnt from. `columns`: per term in alphabetical order its column, or −1. `as_met`: a row's
    // entries stand in the order in which their terms were first met, as scikit-learn leaves them, not in that of columns.
    template <class Watch>
    Matrix rows(std::span<const int32_t> columns, const Weights& weights, u32 n_columns, bool as_met, bool drop_zeros, int n_threads,
                const Watch& watch) {
        n_columns_ = n_columns;
        column_.assign(table_.size(), NONE);
        for (u32 id = n_stop_; id < column_.size(); ++id) column_[id] = u32(columns[position_[id]]);
        table_.set_columns(column_);
        Matrix matrix;
        matrix.indptr.assign(n_rows_ + 1, 0);
        std::vector<u32> by_order;
        if (as_met) {
            by_order.resize(order_.size());
            for (u32 id = 0; id < order_.size(); ++id) by_order[order_[id]] = column_[id];
        }
        struct Place {
            u32 key;  // what rows are sorted by
            double idf;
        };
        std::vector<std::vector<Place>> places(parts_.size());
        auto each = [&](auto f) {  // the parts, each by a thread
            Progress progress;
            share_work(parts_.size(), std::min(n_threads, int(parts_.size())), progress, [&] { return f; }, watch);
        };
        each([&](size_t p) {
            const Counts& part = *parts_[p];
            for (const u32 id : numbers_[p]) {
                const u32 column = column_[id];
                const bool there = column != NONE && !(drop_zeros && weights.idf[column] == 0);
                places[p].push_back({!there ? NONE : as_met ? order_[id] : column, there ? weights.idf[column] : 0});
            }
            size_t k = 0;
            for (const auto& row : part.rows) {
                int64_t n = 0;
                for (; k < row.end; ++k) n += places[p][part.entries()[k].id].key != NONE;
                matrix.indptr[row.number + 1] = n;
            }
        });
        std::partial_sum(matrix.indptr.begin(), matrix.indptr.end(), matrix.indptr.begin());
        allocate(matrix);
        each([&](size_t p) {
            const Counts& part = *parts_[p];
            ColumnSet keys(as_met ? order_.size() : n_columns);
            std::vector<double> values(as_met ? order_.size() : n_columns);
            size_t k = 0;
            for (const auto& row : part.rows) {
                for (; k < row.end; ++k)
                    if (const auto [key, idf] = places[p][part.entries()[k].id]; key != NONE)
                        keys.add(key), values[key] = weights.tf[part.entries()[k].count] * idf;
                const auto start = size_t(matrix.indptr[row.number]);
                size_t at = start;
                double sum = 0;
                keys.take([&](u32 key) {
                    const double value = values[key];
                    matrix.indices[at] = int32_t(as_met ? by_order[key] : key), matrix.data[at++] = value;
                    sum += value * value;
                });
                weights.scale(sum, matrix.data.data() + start, at - start);
            }
        });
        forget();
        return matrix;
    }

    // Lets go of what was learnt but the terms.
    void forget() { parts_.clear(), numbers_.clear(), order_ = {}, position_ = {}, n_rows_ = 0; }

    // Terms with columns 0, 1, … One that no text can have is a column all the same, and never looked up.
    void give(const std::vector<Text>& terms) {
        for (u32 column = 0; column < terms.size(); ++column)
            if (Slot* slot = intern(terms[column]); slot && slot->id >= n_stop_ && slot->column == NONE) slot->column = column;
        n_columns_ = u32(terms.size());
    }

    // Terms in the order of columns, as bytes of UTF-8.
    std::vector<std::string> names() const {
        std::vector<std::string> terms(n_columns_);
        for (u32 id = n_stop_; id < column_.size(); ++id)
            if (column_[id] != NONE) {
                std::string& term = terms[column_[id]];
                table_.spell(id, term);
                if (analyzer.by_characters())
                    for (char& byte : term) --byte;
            }
        return terms;
    }

    // The row of a text: columns in order, and counts. Of one thread.
    class Row {
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

        explicit Row(const Vocabulary& own)
            : own_(own), split_(own.analyzer), set_(own.n_columns_ + 1), count_(own.n_columns_ + 1) {}

        void look_up(Text text) {
            const Analyzer& analyzer = own_.analyzer;
            const TermTable& table = own_.table_;
            const u32 nowhere = own_.n_columns_;  // one column more, for what has none
            const bool sequences = !analyzer.by_characters() && analyzer.max_n > 1;
            size_t n_words = 0, n_met = 0;
            split_(text, [&](const Key* keys, size_t n) {
                if (met_.size() < n_met + n) met_.resize((n_met + n) * 2);
                if (sequences && words_.size() < n_words + n) words_.resize((n_words + n) * 2);
                for (size_t k = 0; k < n; ++k) table.prefetch(keys[k]);
                for (size_t k = 0; k < n; ++k) {
                    const Slot& slot = table.find(keys[k]);
                    if (sequences) words_[n_words] = slot.id, n_words += slot.id >= own_.n_stop_;
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
                    const Slot* slot = known ? &own_.table_.find(Key::sequence(sequences_[i], words_[i + n - 1])) : nullptr;
                    sequences_[i] = known ? slot->id : NONE;
                    if (known) count(std::min(slot->column, nowhere), n_met);
                }
            }
        }
    };

    // The matrix of new texts, and the highest count in it: where that is not in `weights.tf`, rows are missing.
    template <class Source, class Watch>
    std::pair<Matrix, u32> transform(const Source& source, const Weights& weights, bool drop_zeros, int n_threads,
                                     const Watch& watch) const {
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
                return [&, row = Row(*this)](size_t unit, size_t from, const std::vector<Text>& texts) mutable {
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
        std::partial_sum(matrix.indptr.begin(), matrix.indptr.end(), matrix.indptr.begin());
        if (in_order) {
            matrix.indices = std::move(parts[0].indices), matrix.data = std::move(parts[0].data);
            return {std::move(matrix), most};
        }
        allocate(matrix);
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
    u32 scores(const Source& source, const Weights& weights, const double* coef, std::span<const double> intercept,
               double* out, int32_t* n_terms, int n_threads, const Watch& watch) const {
        const size_t n_classes = intercept.size(), line = 64 / sizeof(double);
        std::atomic<u32> most{0};
        for_portions(
            source, portions(source), n_threads,
            [&] {
                return [&, row = Row(*this)](size_t, size_t from, const std::vector<Text>& texts) mutable {
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

  private:
    TermTable table_;
    u32 n_stop_ = 0, n_columns_ = 0;
    std::vector<u32> column_;  // per term
    std::vector<std::unique_ptr<Counts>> parts_;
    std::vector<std::vector<u32>> numbers_;   // of each part's terms here
    std::vector<u32> order_, position_;       // of terms as they were first met; in the alphabet
    size_t n_rows_ = 0;

    static u32 raise(std::atomic<u32>& most, u32 count) {
        for (u32 seen = most.load(std::memory_order_relaxed); count > seen && !most.compare_exchange_weak(seen, count);) continue;
        return count;
    }

    static void allocate(Matrix& matrix) {
        const auto n = size_t(matrix.indptr.back());
        matrix.indices = Buffer<int32_t>(n), matrix.data = Buffer<double>(n);
    }

    // One text is one thread's, whose numbers are in the order it met them: a counting sort by the first text that has a term.
    std::vector<u32> met_order(const std::vector<u32>& first) const {
        std::vector<u32> order(table_.size(), 0);
        if (parts_.size() == 1) {
            std::iota(order.begin(), order.end(), 0);
            return order;
        }
        std::vector<u32> begins(n_rows_ + 2, 0);
        for (const u32 row : first) ++begins[std::min<size_t>(row, n_rows_) + 1];
        std::partial_sum(begins.begin(), begins.end(), begins.begin());
        std::vector<char> placed(table_.size(), 0);
        auto place = [&](u32 id) {
            if (!std::exchange(placed[id], 1)) order[id] = begins[std::min<size_t>(first[id], n_rows_)]++;
        };
        for (size_t p = 0; p < parts_.size(); ++p)
            for (u32 id = 0; id < numbers_[p].size(); ++id)
                if (parts_[p]->first[id] == first[numbers_[p][id]]) place(numbers_[p][id]);
        return order;
    }

    // The slot of a word, or of words with spaces between them; nothing where no text has such a term.
    Slot* intern(Text term) {
        std::string own(term);
        if (analyzer.by_characters()) {
            if (term.empty()) return nullptr;
            for (char& byte : own) ++byte;
            return &table_.get(padded_key(own));
        }
        const auto n_words = u32(std::count(term.begin(), term.end(), ' ')) + 1;
        if (term.find('\0') != Text::npos || n_words < analyzer.min_n || n_words > analyzer.max_n) return nullptr;
        if (term.empty() || term.front() == ' ' || term.back() == ' ' || term.find("  ") != Text::npos) return nullptr;
        u32 before = NONE;
        Slot* slot = nullptr;
        for (size_t start = 0; start <= term.size();) {
            const size_t end = std::min(term.find(' ', start), term.size());
            own = term.substr(start, end - start);
            slot = &table_.get(padded_key(own));
            const u32 word = slot->id;
            if (word < n_stop_) return nullptr;  // which are left out before words are put together
            if (before != NONE) slot = &table_.get(Key::sequence(before, word));
            before = slot->id;
            start = end + 1;
        }
        return slot;
    }
    Key padded_key(std::string& own) {
        const size_t size = own.size();
        own.resize(size + PADDING);
        table_.make_room(2);
        return Key::word(reinterpret_cast<const u8*>(own.data()), u32(size));
    }
};

}  // namespace textmargin
