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
    bool given = false;   // whether `own` is all that is to be written of it, decision included
    size_t place = 0;     // among the rows with a text
    Text text;
    Text own;  // what is written of it, where that is not its content
};

// The records that some bytes complete. Views are of `bytes` and of `copies`, which never move.
struct Batch {
    std::string bytes;
    std::vector<Record> records;
    std::vector<std::deque<std::string>> copies{1};  // of what is not in the file as it is needed; one for each thread that reads

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

// Whether a quoted value is open after a line: a quote opens one at the start of a value only, and two stand for one.
inline bool quote_open(Text line, bool opened, char delimiter) {
    for (size_t at = 0;;) {
        if (!opened) {
            if (at == 0 && line.starts_with('"')) {
                at = 1;
            } else {
                size_t quote = line.find('"', at + 1);
                while (quote != Text::npos && line[quote - 1] != delimiter) quote = line.find('"', quote + 1);
                if (quote == Text::npos) return false;
                at = quote + 1;
            }
        }
        size_t end = line.find('"', at);
        while (end != Text::npos && end + 1 < line.size() && line[end + 1] == '"') end = line.find('"', end + 2);
        if (end == Text::npos) return true;
        opened = false, at = end + 1;
    }
}

class RecordSplitter {
    int delimiter_;  // −1: every line is a record
    size_t most_lines_, most_bytes_;
    std::string rest_;      // lines whose quote is open, then a line whose end is still to come
    size_t line_ = 0;       // where in `rest_` that one begins
    size_t n_pending_ = 0;  // lines whose quote is open

  public:
    int64_t number = 0;  // of the last line so far

    RecordSplitter(int delimiter, size_t most_lines, size_t most_bytes)
        : delimiter_(delimiter), most_lines_(most_lines), most_bytes_(most_bytes) {}

    size_t line_size() const { return rest_.size() - line_; }

    std::shared_ptr<Batch> add(Text data) {
        auto batch = std::make_shared<Batch>();
        if (data.find('\n') == Text::npos) {
            rest_.append(data);
            return batch;
        }
        batch->bytes = std::move(rest_);
        batch->bytes.append(data);
        const Text all = batch->bytes;
        size_t start = 0, line = line_, next_quote = all.find('"', line_);
        for (size_t end; (end = all.find('\n', line)) != Text::npos; line = end + 1) {
            if (next_quote < line) next_quote = all.find('"', line);
            take(*batch, all, start, line, end, next_quote < end);
        }
        if (batch->records.empty()) {
            rest_ = std::move(batch->bytes);
            line_ = line;
        } else {
            rest_.assign(all.substr(start));
            line_ = line - start;
        }
        return batch;
    }

    // The last line, which no newline ends, and lines whose quote is never closed, each by itself: they must not be lost.
    std::shared_ptr<Batch> finish() {
        auto batch = std::make_shared<Batch>();
        batch->bytes = std::move(rest_);
        const Text all = batch->bytes;
        size_t start = 0;
        if (line_ < all.size()) take(*batch, all, start, line_, all.size(), all.find('"', line_) != Text::npos);
        flush(*batch, all, start, all.size());
        rest_.clear(), line_ = 0;
        return batch;
    }

  private:
    // A further line; `start` is where the record begins that it belongs to, and moves on where it is complete.
    void take(Batch& batch, Text all, size_t& start, size_t line, size_t end, bool has_quote) {
        ++number;
        if (delimiter_ < 0 || (n_pending_ == 0 && !has_quote)) {
            put(batch, all, start, end, number, has_quote);
        } else if (quote_open(all.substr(line, end - line), n_pending_ > 0, static_cast<char>(delimiter_))) {
            ++n_pending_;
            if (n_pending_ > most_lines_ || (n_pending_ > 1 && end + 1 - start > most_bytes_)) flush(batch, all, start, end);
        } else {
            put(batch, all, start, end, number - static_cast<int64_t>(n_pending_), true);
            n_pending_ = 0;
        }
    }

    void flush(Batch& batch, Text all, size_t& start, size_t end) {
        for (; n_pending_ > 0; --n_pending_) {
            const size_t newline = std::min(all.find('\n', start), end);
            put(batch, all, start, newline, number - static_cast<int64_t>(n_pending_) + 1, true);
        }
    }

    static void put(Batch& batch, Text all, size_t& start, size_t end, int64_t number, bool quoted) {
        Text content = all.substr(start, end - start);
        if (content.ends_with('\r')) content.remove_suffix(1);
        Record& record = batch.records.emplace_back();
        record.content = content, record.number = number, record.quoted = quoted;
        if (is_blank(content)) record.kind = RecordKind::blank;
        start = std::min(end + 1, all.size());
    }
};

}  // namespace textmargin
