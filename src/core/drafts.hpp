// Texts in parts: sorted terms of two parts put together, the columns of a part's terms, and its rows as they are stored.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <stdexcept>
#include <vector>

#include "buffer.hpp"
#include "matrix.hpp"
#include "strings.hpp"
#include "terms.hpp"
#include "work.hpp"

namespace textmargin {

// Terms in the order of their bytes, one behind the other.
class SortedTerms {
    std::span<const u8> block_;
    std::span<const int64_t> ends_;

  public:
    SortedTerms(std::span<const u8> block, std::span<const int64_t> ends) : block_(block), ends_(ends) {
        int64_t start = 0;
        for (const int64_t end : ends) {
            if (end < start || size_t(end) > block.size()) throw std::invalid_argument("where terms end does not fit their bytes");
            start = end;
        }
        if (ends.size() > NONE / 2) throw std::length_error("more than 2 billion terms");
    }
    size_t size() const { return ends_.size(); }
    Text operator[](size_t i) const {
        const size_t start = i ? size_t(ends_[i - 1]) : 0;
        return {reinterpret_cast<const char*>(block_.data()) + start, size_t(ends_[i]) - start};
    }
};

struct MergedTerms {
    Buffer<u8> block;
    Buffer<int64_t> ends;
    std::vector<int64_t> places_a, places_b;  // of the terms of each
};

inline MergedTerms merge_terms(const SortedTerms& a, const SortedTerms& b) {
    MergedTerms merged;
    merged.places_a.reserve(a.size()), merged.places_b.reserve(b.size());
    for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
        const int order = i == a.size() ? 1 : j == b.size() ? -1 : a[i].compare(b[j]);
        const Text term = order <= 0 ? a[i] : b[j];
        const auto place = int64_t(merged.ends.size());
        merged.block.append(term.data(), term.size());
        const auto end = int64_t(merged.block.size());
        merged.ends.append(&end, 1);
        if (order <= 0) merged.places_a.push_back(place), ++i;
        if (order >= 0) merged.places_b.push_back(place), ++j;
    }
    return merged;
}

// Where each of a few terms stands among many, or −1: doubling steps from where the one before was found.
inline std::vector<int32_t> match_terms(const SortedTerms& few, const SortedTerms& many) {
    std::vector<int32_t> places;
    places.reserve(few.size());
    size_t low = 0;  // all before are smaller
    for (size_t i = 0; i < few.size(); ++i) {
        const Text term = few[i];
        size_t step = 1, high = low;
        while (high < many.size() && many[high] < term) low = high + 1, high += step, step *= 2;
        high = std::min(high, many.size());
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (many[middle] < term) low = middle + 1;
            else high = middle;
        }
        places.push_back(low < many.size() && many[low] == term ? int32_t(low) : -1);
    }
    return places;
}

struct StoredRows {
    std::vector<int64_t> starts;
    Buffer<int64_t> entries;  // the column in the lower half, the value as a float in the upper
};

// The rows of a part as `Vocabulary::rows` makes them, to the last bit before they become single. `columns`: of its terms, or −1.
template <class Watch>
StoredRows finish_rows(std::span<const int64_t> starts, std::span<const int32_t> terms, std::span<const u32> counts,
                       std::span<const int32_t> columns, const Weights& weights, size_t n_columns, const Watch& watch) {
    struct Entry {
        int32_t column;
        double value;
    };
    const FlushTiny tiny;
    StoredRows rows;
    rows.starts.reserve(starts.size());
    rows.starts.push_back(0);
    std::vector<Entry> row;
    std::vector<int64_t> stored;
    for (size_t i = 0; i + 1 < starts.size(); ++i) {
        row.clear();
        bool sorted = true;
        for (auto k = size_t(starts[i]); k < size_t(starts[i + 1]); ++k) {
            if (size_t(terms[k]) >= columns.size()) throw std::invalid_argument("a row has a term that is not there");
            if (counts[k] >= weights.n_tf) throw std::invalid_argument("a count has no weight");
            const int32_t column = columns[size_t(terms[k])];
            if (column < 0) continue;
            if (size_t(column) >= n_columns) throw std::invalid_argument("there is no such column");
            const double idf = weights.idf[column];
            if (idf == 0) continue;
            sorted = sorted && (row.empty() || row.back().column < column);
            row.push_back({column, weights.tf[counts[k]] * idf});
        }
        if (!sorted) std::sort(row.begin(), row.end(), [](const Entry& x, const Entry& y) { return x.column < y.column; });
        double sum = 0;
        for (const Entry& entry : row) sum += entry.value * entry.value;
        const double length = weights.unit && sum != 0 ? std::sqrt(sum) : 1;
        stored.clear();
        for (const Entry& entry : row) {
            const u32 value = std::bit_cast<u32>(float(entry.value / length));
            stored.push_back(std::bit_cast<int64_t>(u64{value} << 32 | u32(entry.column)));
        }
        rows.entries.append(stored.data(), stored.size());
        rows.starts.push_back(int64_t(rows.entries.size()));
        if (i % (1 << 16) == 0) watch();
    }
    return rows;
}

// A number that is the same for the same bytes, and as good as random otherwise.
inline u64 text_key(Text text) {
    u64 key = text.size();
    size_t i = 0;
    for (; i + 8 <= text.size(); i += 8) key = mix(key, load(text.data() + i));
    u64 rest = 0;
    for (size_t k = 0; i + k < text.size(); ++k) rest |= u64{u8(text[i + k])} << 8 * k;
    return mix(mix(key, rest), 1);
}

}  // namespace textmargin
