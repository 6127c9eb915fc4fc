// libFuzzer on the core's readers and its tokeniser: whatever bytes arrive, in whatever pieces, under the sanitizers.
// Held beside: the records of a file do not depend on the pieces that it arrives in, and those read by two threads are the same.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "../../src/core/analysis.hpp"
#include "../../src/core/delimited.hpp"
#include "../../src/core/json_lines.hpp"

using namespace textmargin;

namespace {

struct Found {
    int64_t number;
    RecordKind kind;
    std::string content, text;
    bool operator==(const Found&) const = default;
};

void read(Batch& batch, uint8_t way) {
    const Columns columns{way & 1 ? ';' : ',', size_t(way >> 1 & 3) + 1, size_t(way >> 3 & 3), bool(way & 32)};
    const Objects objects{"text", {"label"}};
    ObjectReader reader(objects);
    for (Record& record : batch.records) {
        if (record.kind != RecordKind::unread) continue;
        if (way & 64)
            reader.read(batch, record, 0);
        else if (way & 128)
            read_plain(record, way & 32);
        else
            read_delimited(batch, record, columns, 0);
    }
}

void keep(std::vector<Found>& all, Batch& batch, uint8_t way) {
    read(batch, way);
    for (const Record& one : batch.records)
        all.push_back({one.number, one.kind, std::string(one.content), std::string(one.text)});
}

std::vector<Found> records(Text data, uint8_t way, size_t piece) {
    RecordSplitter splitter(way & 0xC0 ? -1 : way & 1 ? ';' : ',', 20, 2000);
    std::vector<Found> all;
    for (size_t at = 0; at < data.size(); at += piece) keep(all, *splitter.add(data.substr(at, piece)), way);
    keep(all, *splitter.finish(), way);
    return all;
}

// Not Unicode's, but every kind of character next to every other.
const std::vector<u32>& table() {
    static const std::vector<u32> points = [] {
        constexpr u32 kinds[] = {ALPHANUMERIC, ALPHANUMERIC | DECIMAL, MARK, SYMBOL, SYMBOL | REGIONAL, SPACE, ALPHANUMERIC | RUN_OF_PAIRS,
                                 ALPHANUMERIC | 2u << 27, ALPHANUMERIC | DECIMAL | 2u << 27, CASED | ALPHANUMERIC, IGNORABLE, 0};
        std::vector<u32> all(CODE_POINTS);
        for (u32 c = 0; c < CODE_POINTS; ++c) all[c] = (c % 5 == 0 && c > 0x80 ? c ^ 1 : c) | kinds[c % std::size(kinds)];
        return all;
    }();
    return points;
}

void split_words(Text text, uint8_t way) {
    Analyzer analyzer{{Kind(way & 3), bool(way & 4), bool(way & 8), bool(way & 16)}, 1u + (way >> 5 & 1), 1, 1u + (way >> 6), bool(way & 32), {"12"}, {}};
    analyzer.clean.points = table().data();
    Splitter splitter(analyzer);
    TermTable terms;
    splitter(text, [&](Key* keys, size_t n) {
        terms.make_room(n);
        for (size_t k = 0; k < n; ++k) terms.get(keys[k]);
    });
    std::string out;
    for (u32 id = 0; id < terms.size(); ++id) terms.spell(id, out);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 3) return 0;
    const uint8_t way = data[0];
    const Text rest(reinterpret_cast<const char*>(data) + 2, size - 2);
    if (records(rest, way, rest.size()) != records(rest, way, size_t(data[1] % 37) + 1)) abort();
    if (is_utf8(rest)) split_words(rest, way);
    return 0;
}
