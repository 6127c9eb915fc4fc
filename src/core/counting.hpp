// Terms learnt from texts: each thread those of the texts it happens to get, put together afterwards.
#pragma once

#include <atomic>
#include <utility>
#include <vector>

#include "analysis.hpp"
#include "buffer.hpp"
#include "work.hpp"

namespace textmargin {

// The counts of some texts, with terms of their own.
class Counts {
  public:
    struct Entry {
        u32 id, count;
    };
    struct Row {
        u32 number;
        u64 end;  // in the entries; it begins where the one before ends
    };
    TermTable terms;
    std::vector<Row> rows;
    std::vector<u32> df, first;  // per term: texts that have it, and the first of them
    std::vector<u64> total;      // how often it occurs
    u32 most = 0;                // the highest count in a text

    explicit Counts(const Analyzer& analyzer) : analyzer_(analyzer), split_(analyzer) {
        for (const std::string& word : analyzer.stop_words) {  // which have the first numbers
            std::vector<u8> padded(word.begin(), word.end());
            padded.resize(word.size() + PADDING);
            terms.make_room(1);
            terms.get(Key::word(padded.data(), u32(word.size())));
        }
        n_stop_ = terms.size();
    }

    const Entry* entries() const { return entries_.data(); }

    void add(u32 row, Text text) {
        const size_t begin = n_entries_;
        size_t n_words = 0;
        const bool sequences = !analyzer_.by_characters() && analyzer_.max_n > 1;
        const bool singles = analyzer_.by_characters() || analyzer_.min_n == 1;
        split_(text, [&](const Key* keys, size_t n) {
            make_room(n);
            if (sequences && words_.size() < n_words + n) words_.resize((n_words + n) * 2);
            for (size_t k = 0; k < n; ++k) terms.prefetch(keys[k]);
            Tally tally(entries_.data() + begin, n_entries_ - begin, row);
            for (size_t k = 0; k < n; ++k) {
                Slot& slot = terms.get(keys[k]);
                const bool stop = slot.id < n_stop_;
                if (sequences) words_[n_words] = slot.id, n_words += !stop;
                if (singles) tally.count(slot, stop);
            }
            n_entries_ = begin + tally.size;
        });
        if (sequences) count_sequences(row, n_words, begin);
        rows.push_back({row, n_entries_});
    }

    void finish() {
        df.assign(terms.size(), 0), total.assign(terms.size(), 0), first.assign(terms.size(), NONE);
        size_t k = 0;
        for (const Row& row : rows)
            for (; k < row.end; ++k) {
                const auto [id, count] = entries_[k];
                first[id] = std::min(first[id], row.number);
                ++df[id], total[id] += count, most = std::max(most, count);
            }
    }

  private:
    const Analyzer& analyzer_;
    Splitter split_;
    u32 n_stop_;
    Buffer<Entry> entries_;
    size_t n_entries_ = 0;
    std::vector<u32> words_, sequences_;  // of the text: its words, and sequences from each word on

    void make_room(size_t n) {  // for so many entries, and a count of zero behind them
        terms.make_room(n);
        entries_.make_room(n_entries_ + n + 1);
    }

    // The entries of a text, in registers while they are counted.
    struct Tally {
        Entry* entries;
        size_t size;
        u32 row;

        Tally(Entry* entries, size_t size, u32 row) : entries(entries), size(size), row(row) { entries[size].count = 0; }

        // Whether a term is a stop word, or was met in this text before, is anyone's guess: no branches, as half would go wrong.
        [[gnu::always_inline]] void count(Slot& slot, bool stop) {
            const u32 again = -u32(slot.row == row);
            const u32 place = (slot.place & again) | (u32(size) & ~again);
            slot.row = row | -u32(stop), slot.place = place;
            entries[place].id = slot.id, ++entries[place].count;
            size += ~again & !stop;
            entries[size].count = 0;
        }
    };

    void count_sequences(u32 row, size_t n_words, size_t begin) {
        sequences_.assign(words_.begin(), words_.begin() + ptrdiff_t(n_words));
        for (u32 n = 2; n <= analyzer_.max_n && n_words >= n; ++n)
            for (size_t start = 0, all = n_words - n + 1; start < all; start += BATCH) {
                const size_t end = std::min(all, start + BATCH);
                make_room(BATCH);
                for (size_t i = start; i < end; ++i) terms.prefetch(Key::sequence(sequences_[i], words_[i + n - 1]));
                Tally tally(entries_.data() + begin, n_entries_ - begin, row);
                for (size_t i = start; i < end; ++i) {
                    Slot& slot = terms.get(Key::sequence(sequences_[i], words_[i + n - 1]));
                    sequences_[i] = slot.id;
                    if (n >= analyzer_.min_n) tally.count(slot, false);
                }
                n_entries_ = begin + tally.size;
            }
    }
};

}  // namespace textmargin
