// Contiguous n-grams of sequences of codes: each gets a number when it is first met, and every text its counts.
#pragma once

#include <bit>
#include <span>
#include <vector>

#include "buffer.hpp"
#include "counting.hpp"

namespace textmargin {

struct NgramCounts {
    std::vector<int64_t> indptr;
    Buffer<int32_t> indices;  // in order within a text
    Buffer<double> counts;
    std::vector<int64_t> places;  // where each n-gram was first met
};

// Text i is codes[starts[i] … starts[i + 1]). `watch` is called now and then, and may throw.
template <class Watch>
NgramCounts count_ngrams(std::span<const int32_t> codes, std::span<const int64_t> starts, size_t length, const Watch& watch) {
    struct Slot {
        u64 hash;
        u32 id = NONE;
    };
    std::vector<Slot> slots(1024);
    NgramCounts result;
    result.indptr.push_back(0);
    std::vector<u32> count, met;  // per n-gram, in this text; those that it has
    std::vector<int32_t> indices;
    std::vector<double> counts;
    auto number = [&](size_t at) {
        u64 hash = length;
        for (size_t k = 0; k < length; ++k) hash = mix(hash, u64(u32(codes[at + k])));
        for (size_t i = hash & (slots.size() - 1);; i = (i + 1) & (slots.size() - 1)) {
            Slot& slot = slots[i];
            if (slot.id == NONE) {
                slot = {hash, u32(result.places.size())};
                result.places.push_back(int64_t(at));
                return slot.id;
            }
            const auto first = size_t(result.places[slot.id]);
            if (slot.hash == hash && std::equal(&codes[at], &codes[at] + length, &codes[first])) return slot.id;
        }
    };
    auto make_room = [&](size_t more) {  // at most half of the slots are taken
        const size_t n = result.places.size() + more;
        if (n >= NONE / 2) throw std::length_error("more than 2 billion n-grams");
        count.resize(std::max(count.size(), n), 0);
        if (n * 2 <= slots.size()) return;
        std::vector<Slot> old(std::bit_ceil(n * 3));
        old.swap(slots);
        for (const Slot& slot : old) {
            size_t i = slot.hash & (slots.size() - 1);
            while (slot.id != NONE && slots[i].id != NONE) i = (i + 1) & (slots.size() - 1);
            if (slot.id != NONE) slots[i] = slot;
        }
    };
    size_t since = 0;
    for (size_t text = 0; text + 1 < starts.size(); ++text) {
        const auto begin = size_t(starts[text]), end = size_t(starts[text + 1]);
        met.clear();
        for (size_t from = begin; from + length <= end; from += BATCH) {
            make_room(BATCH);
            for (size_t at = from; at < std::min(from + BATCH, end - length + 1); ++at) {
                const u32 id = number(at);
                if (count[id]++ == 0) met.push_back(id);
            }
        }
        std::sort(met.begin(), met.end());
        indices.assign(met.begin(), met.end()), counts.clear();
        for (const u32 id : met) counts.push_back(std::exchange(count[id], 0));
        result.indices.append(indices.data(), indices.size());
        result.counts.append(counts.data(), counts.size());
        result.indptr.push_back(int64_t(result.indices.size()));
        if ((since += end - begin) > size_t{1} << 22) since = 0, watch();
    }
    return result;
}

}  // namespace textmargin
