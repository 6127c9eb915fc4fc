// Terms and their columns, learnt from texts or given.
#pragma once

#include <memory>
#include <numeric>
#include <span>

#include "counting.hpp"
#include "matrix.hpp"
#include "portions.hpp"

namespace textmargin {

class Vocabulary {
  public:
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
    u32 n_stop() const { return n_stop_; }  // stop words have the first numbers, and no columns
    const TermTable& table() const { return table_; }

    // Counts the terms of further texts.
    template <class Source, class Watch>
    void add(const Source& source, int n_threads, const Watch& watch) {
        const size_t before = n_rows_;
        if (before + source.size() >= NONE) throw std::length_error("more than 4 billion texts");
        const auto ends = portions(source);
        const int n_parts = n_workers(ends.size(), n_threads);
        while (int(parts_.size()) < n_parts) parts_.push_back(std::make_unique<Counts>(analyzer));
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
    template <class Watch>
    Frequencies join(int n_threads, const Watch& watch) {
        for_parts(n_threads, watch, [&](size_t p) { parts_[p]->finish(); });
        std::vector<u32> df, first;
        std::vector<u64> total;
        numbers_.assign(parts_.size(), {});
        u32 most = 0;
        for (size_t p = 0; p < parts_.size(); ++p) {
            Counts& part = *parts_[p];
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

    // Gives each term in alphabetical order its column, or −1.
    void set_columns(std::span<const int32_t> columns, u32 n_columns) {
        n_columns_ = n_columns;
        column_.assign(table_.size(), NONE);
        for (u32 id = n_stop_; id < column_.size(); ++id) column_[id] = u32(columns[position_[id]]);
        table_.set_columns(column_);
    }

    // The matrix of the texts that were learnt from. `columns`: per term in alphabetical order its column, or −1. `as_met`: a row's
    // entries stand in the order in which their terms were first met, as scikit-learn leaves them, not in that of columns.
    template <class Watch>
    Matrix rows(std::span<const int32_t> columns, const Weights& weights, u32 n_columns, bool as_met, bool drop_zeros, int n_threads,
                const Watch& watch) {
        set_columns(columns, n_columns);
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
        for_parts(n_threads, watch, [&](size_t p) {
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
        matrix.add_up();
        matrix.allocate();
        for_parts(n_threads, watch, [&](size_t p) {
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

  private:
    TermTable table_;
    u32 n_stop_ = 0, n_columns_ = 0;
    std::vector<u32> column_;  // per term
    std::vector<std::unique_ptr<Counts>> parts_;
    std::vector<std::vector<u32>> numbers_;   // of each part's terms here
    std::vector<u32> order_, position_;       // of terms as they were first met; in the alphabet
    size_t n_rows_ = 0;

    template <class Watch, class Work>
    void for_parts(int n_threads, const Watch& watch, const Work& work) {  // each by a thread
        Progress progress;
        share_work(parts_.size(), std::min(n_threads, int(parts_.size())), progress, [&] { return work; }, watch);
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
