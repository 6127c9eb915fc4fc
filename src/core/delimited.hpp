// Values of a record of CSV or TSV, as Python's csv.reader(strict=True) reads them.
#pragma once

#include <cstring>
#include <string>

#include "cells.hpp"
#include "records.hpp"

namespace textmargin {

struct Value {
    Text raw;              // as it stands there, without quotes around it
    bool quoted = false;
    bool doubled = false;  // whether quotes in it are doubled

    Text plain(std::string& copy) const {
        if (!doubled) return raw;
        copy.clear();
        for (size_t k = 0; k < raw.size(); ++k) {
            copy += raw[k];
            k += raw[k] == '"';
        }
        return copy;
    }
};

// Calls take(value) for each; false where a quote is never closed, or a value goes on behind one.
template <class Take>
bool each_value(Text content, char delimiter, const Take& take) {
    for (size_t at = 0;; ++at) {
        Value value;
        if (at < content.size() && content[at] == '"') {
            const size_t start = at + 1;
            for (at = content.find('"', start); at != Text::npos && at + 1 < content.size() && content[at + 1] == '"';) {
                value.doubled = true;
                at = content.find('"', at + 2);
            }
            if (at == Text::npos) return false;
            value.raw = content.substr(start, at - start);
            value.quoted = true;
            ++at;
            if (at < content.size() && content[at] != delimiter) return false;
        } else {
            const size_t end = std::min(content.find(delimiter, at), content.size());
            value.raw = content.substr(at, end - at);
            at = end;
        }
        take(value);
        if (at >= content.size()) return true;
    }
}

struct Columns {
    char delimiter;
    size_t n, text;  // how many there are, and which holds the text; n: nobody asks
    bool defuse;     // whether formulas are looked for when a row is written
};

// Reads a record that is not blank: a row with a text or an empty one, or odd where Python has to say what it is.
inline void read_delimited(Batch& batch, Record& record, const Columns& columns, size_t thread) {
    const Text content = record.content;
    record.kind = RecordKind::odd;
    const bool ascii = is_ascii(content);
    if (content.find('\0') != Text::npos || (!ascii && !is_utf8(content))) return;
    const bool newlines = content.find('\r') != Text::npos || (record.quoted && content.find('\n') != Text::npos);
    size_t n = 0;
    bool plain = true;
    Value text;
    const bool whole = each_value(content, columns.delimiter, [&](const Value& value) {
        if (n++ == columns.text) text = value;
        if (newlines && !value.quoted && value.raw.find_first_of("\r\n") != Text::npos) plain = false;
        if (!columns.defuse) return;
        const Formula kind = formula(value.raw);
        if (!ascii && kind == Formula::unknown) plain = false;
        record.formulas |= kind == Formula::yes;
    });
    if (!whole || !plain || n != columns.n) return;
    std::string copy;
    record.text = text.plain(copy);
    if (text.doubled) record.text = batch.keep(std::move(copy), thread);
    record.kind = is_blank_text(record.text) ? RecordKind::empty : RecordKind::row;
}

// Reads a line that is a text and nothing else.
inline void read_plain(Record& record, bool defuse) {
    const Text content = record.content;
    const bool plain = content.find('\0') == Text::npos && content.find('\r') == Text::npos && is_utf8(content) &&
                       !(defuse && formula(content) == Formula::unknown);
    record.text = content;
    record.kind = !plain ? RecordKind::odd : is_blank_text(content) ? RecordKind::empty : RecordKind::row;
}

}  // namespace textmargin
