// Texts in parts: sorted terms of two parts put together.
#pragma once

#include <algorithm>
#include <span>
#include <stdexcept>
#include <vector>

#include "buffer.hpp"
#include "strings.hpp"
#include "terms.hpp"

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

}  // namespace textmargin
