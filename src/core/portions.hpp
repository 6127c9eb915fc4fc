// Texts shared out among threads, some at a time.
#pragma once

#include <algorithm>
#include <vector>

#include "strings.hpp"
#include "work.hpp"

namespace textmargin {

constexpr size_t PORTION = 1 << 16;  // bytes that a thread takes at a time
constexpr size_t SMALL = 1 << 18;    // bytes that are not worth a thread of their own

// Threads that so many portions keep busy.
inline int n_workers(size_t n_portions, int n_threads) {
    return n_portions <= SMALL / PORTION ? 1 : int(std::min(n_portions, size_t(n_threads)));
}

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
    share_work(ends.size(), n_workers(ends.size(), n_threads), progress, worker_of, watch);
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

}  // namespace textmargin
