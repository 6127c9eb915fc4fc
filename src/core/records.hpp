// Records of a text file as its bytes arrive: lines, or in CSV and TSV lines joined where a quoted value goes on.
// The same records as `RecordJoiner` in tables/lines.py finds, which tests hold it to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "strings.hpp"

namespace textmargin {

enum class RecordKind : uint8_t {
    unread,
    outside,  // no row: a header, or a line that cannot be read
    blank,
    row,
    empty,  // a row whose text is empty
    odd,    // left to Python
};

struct Record {
    Text content;        // less the end of its line
    int64_t number = 0;  // of its first line, from 1
    RecordKind kind = RecordKind::unread;
    bool quoted = false;  // whether it holds a quote
    bool formulas = false;  // whether a value, as it stands there, is one that a spreadsheet would run
    bool given = false;   // whether `own` is all that is to be written of it, decision included
    size_t place = 0;     // among the rows with a text
    Text text;
    Text own;  // what is written of it, where that is not its content
};

// The records that some bytes complete. Views are of `bytes` and of `copies`, which never move.
struct Batch {
    std::string bytes;
    std::vector<Record> records;
    std::deque<std::deque<std::string>> copies{1};  // of what is not in the file as it is needed; one for each thread that reads

    Text keep(std::string copy, size_t thread = 0) { return copies[thread].emplace_back(std::move(copy)); }
};

// Runs work(begin, end, number of the range) on ranges of n records, each on a thread of its own, the first on that of the caller.
template <class Work>
void in_ranges(size_t n, int n_threads, const Work& work) {
    constexpr size_t fewest = 200;  // records, for which a thread is worth its while
    const size_t n_ranges = std::clamp<size_t>(n / fewest, 1, static_cast<size_t>(std::max(n_threads, 1)));
    std::vector<std::future<void>> others;
    for (size_t k = 1; k < n_ranges; ++k)
        others.push_back(std::async(std::launch::async, [=, &work] { work(k * n / n_ranges, (k + 1) * n / n_ranges, k); }));
    work(size_t{0}, n / n_ranges, size_t{0});
    for (auto& one : others) one.get();
}

inline bool is_blank(Text content) { return content.find_first_not_of(" \t\n\r\v\f") == Text::npos; }  // as bytes.strip sees it

enum class Quote : uint8_t {
    closed,
    open,
    stray,  // a value goes on behind it
};

struct LineScan {
    size_t n_values = 0;          // that end in the line
    Quote quote = Quote::closed;  // after it
};

// A line of a record: a quote opens a value at its start only, and two stand for one.
inline LineScan scan_line(Text line, bool opened, char delimiter) {
    line = line.substr(0, line.find_last_not_of('\r') + 1);
    size_t n = 0;
    for (size_t at = 0;;) {
        if (!opened && at == 0 && line.starts_with('"')) {
            at = 1;
        } else if (!opened) {
            size_t quote = line.find('"', at + 1);
            while (quote != Text::npos && line[quote - 1] != delimiter) quote = line.find('"', quote + 1);
            const Text before = line.substr(at, quote - at);  // up to the end where there is none
            n += static_cast<size_t>(std::count(before.begin(), before.end(), delimiter));
            if (quote == Text::npos) return {n + 1, Quote::closed};
            at = quote + 1;
        }
        size_t end = line.find('"', at);
        while (end != Text::npos && end + 1 < line.size() && line[end + 1] == '"') end = line.find('"', end + 2);
        if (end == Text::npos) return {n, Quote::open};
        opened = false, at = end + 1;
        if (at < line.size() && line[at] != delimiter) return {n, Quote::stray};
    }
}

// Whether a record is there to name the delimiter.
inline bool names_delimiter(Text content) {
    if (content.starts_with('"')) content.remove_prefix(1);
    constexpr Text start = "sep=";
    return content.size() >= start.size() && std::equal(start.begin(), start.end(), content.begin(), [](char expected, char c) {
        return expected == (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    });
}

// Where lines do not make a record of as many values as the first one has, the quote that joined them was a stray one: the first
// line is a record by itself, and the others are read anew, so that they are not lost with it.
class RecordSplitter {
    int delimiter_;  // −1: every line is a record
    size_t most_lines_, most_bytes_;
    std::string rest_;      // lines whose quote is open, then a line whose end is still to come
    size_t line_ = 0;       // where in `rest_` that one begins
    size_t n_pending_ = 0;  // lines whose quote is open
    size_t n_values_ = 0;   // that end in them
    size_t n_columns_ = 0;  // 0: to be told by the first record

  public:
    int64_t number = 0;  // of the last line so far

    RecordSplitter(int delimiter, size_t most_lines, size_t most_bytes)
        : delimiter_(delimiter), most_lines_(most_lines), most_bytes_(most_bytes) {}

    size_t line_size() const { return rest_.size() - line_; }
    bool pending() const { return n_pending_ > 0; }  // whether a record goes on

    std::shared_ptr<Batch> add(Text data) {
        auto batch = std::make_shared<Batch>();
        if (data.find('\n') == Text::npos) {
            rest_.append(data);
            return batch;
        }
        batch->bytes = std::move(rest_);
        batch->bytes.append(data);
        const size_t start = split(*batch, false);
        if (batch->records.empty()) {
            rest_ = std::move(batch->bytes);
        } else {
            rest_.assign(batch->bytes, start);
            line_ -= start;
        }
        return batch;
    }

    // With the last line, which no newline ends, and lines whose quote is never closed.
    std::shared_ptr<Batch> finish() {
        auto batch = std::make_shared<Batch>();
        batch->bytes = std::move(rest_);
        split(*batch, true);
        rest_.clear(), line_ = 0;
        return batch;
    }

  private:
    // Puts what is complete; returns where the record begins that is not. `last`: whether there is nothing to come.
    size_t split(Batch& batch, bool last) {
        const Text all = batch.bytes;
        size_t start = 0, next_quote = all.find('"', line_);
        for (;;) {
            size_t end = all.find('\n', line_);
            if (end == Text::npos && !last) return start;
            if (line_ >= all.size() && n_pending_ == 0) return start;
            bool whole = false, quoted = n_pending_ > 0;
            if (line_ < all.size()) {
                end = std::min(end, all.size());
                if (next_quote < line_) next_quote = all.find('"', line_);
                quoted = quoted || next_quote < end;
                ++number, ++n_pending_;
                whole = delimiter_ < 0 || !quoted;
                if (!whole) {
                    const Text line = all.substr(line_, end - line_);
                    const LineScan scan = scan_line(line, n_pending_ > 1, static_cast<char>(delimiter_));
                    n_values_ += scan.n_values;
                    if (scan.quote == Quote::open && may_go_on(end + 1 - start)) {
                        line_ = std::min(end + 1, all.size());
                        continue;
                    }
                    whole = n_pending_ == 1 || (scan.quote == Quote::closed && (n_columns_ == 0 || n_values_ == n_columns_));
                }
            }
            const int64_t first = number - static_cast<int64_t>(n_pending_) + 1;
            if (!whole) {
                end = std::min(all.find('\n', start), all.size());
                number = first;
                next_quote = 0;
            }
            put(batch, all.substr(start, end - start), first, quoted);
            start = line_ = std::min(end + 1, all.size());
            n_pending_ = n_values_ = 0;
        }
    }

    bool may_go_on(size_t size) const {
        const bool is_short = n_pending_ <= most_lines_ && (n_pending_ == 1 || size <= most_bytes_);
        return is_short && (n_columns_ == 0 || n_values_ < n_columns_);
    }

    void put(Batch& batch, Text content, int64_t first, bool quoted) {
        if (content.ends_with('\r')) content.remove_suffix(1);
        Record& record = batch.records.emplace_back();
        record.content = content, record.number = first, record.quoted = quoted;
        if (is_blank(content))
            record.kind = RecordKind::blank;
        else if (n_columns_ == 0 && delimiter_ >= 0 && !names_delimiter(content))
            n_columns_ = std::max<size_t>(scan_line(content, false, static_cast<char>(delimiter_)).n_values, 1);
    }
};

}  // namespace textmargin
