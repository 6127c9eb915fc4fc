// A line of JSON that holds an object, read as Python's json.loads reads it and written as json.dumps writes it.
// What Python would not give back under the same keys in the same order, or what is hard to say, is left to it.
#pragma once

#include <charconv>
#include <cstdint>
#include <deque>
#include <string>
#include <system_error>
#include <vector>

#include "cells.hpp"
#include "numbers.hpp"
#include "records.hpp"

namespace textmargin {

struct Objects {
    std::string text;                   // the key of the texts
    std::vector<std::string> reserved;  // keys of decisions: an object that has one is left to Python
};

class ObjectReader {
    static constexpr int deepest_ = 50;
    static constexpr size_t most_keys_ = 200;

    const Objects& objects_;
    Text line_;
    size_t at_ = 0;
    std::string own_, decoded_, text_copy_;
    std::deque<std::string> decoded_keys_;
    bool is_text_ = false;  // whether the value that is read next is the text
    bool copied_ = false;
    Text text_;
    RecordKind kind_ = RecordKind::odd;

  public:
    explicit ObjectReader(const Objects& objects) : objects_(objects) {}

    // Reads a record that is not blank; `own` becomes the object without its closing bracket.
    void read(Batch& batch, Record& record, size_t thread) {
        record.kind = kind_ = RecordKind::odd;
        line_ = record.content, at_ = 0, copied_ = is_text_ = false;
        own_.clear(), decoded_keys_.clear();
        if (line_.find('\0') != Text::npos || !is_utf8(line_)) return;
        skip_blanks();
        if (!next_is('{') || !object(0)) return;
        skip_blanks();
        if (at_ < line_.size() || kind_ == RecordKind::odd) return;
        own_.pop_back();
        record.text = copied_ ? batch.keep(std::string(text_), thread) : text_;
        record.own = own_ == line_.substr(0, own_.size()) ? line_.substr(0, own_.size()) : batch.keep(own_, thread);
        record.kind = kind_;
    }

  private:
    bool next_is(char c) const { return at_ < line_.size() && line_[at_] == c; }
    void skip_blanks() {
        while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t' || line_[at_] == '\n' || line_[at_] == '\r')) ++at_;
    }

    bool object(int depth) {
        std::vector<Text> keys;
        ++at_;
        own_ += '{';
        skip_blanks();
        if (next_is('}')) return close('}');
        for (;;) {
            if (!next_is('"') || keys.size() == most_keys_) return false;
            Text key;
            bool escapes;
            if (!string(key, escapes)) return false;
            if (escapes) key = decoded_keys_.emplace_back(key);
            for (const Text other : keys)
                if (other == key) return false;
            keys.push_back(key);
            if (depth == 0)
                for (const auto& name : objects_.reserved)
                    if (name == key) return false;
            skip_blanks();
            if (!next_is(':')) return false;
            ++at_;
            own_.append(": ");
            skip_blanks();
            is_text_ = depth == 0 && key == objects_.text;
            if (!value(depth + 1)) return false;
            skip_blanks();
            if (next_is('}')) return close('}');
            if (!comma()) return false;
        }
    }

    bool array(int depth) {
        ++at_;
        own_ += '[';
        skip_blanks();
        if (next_is(']')) return close(']');
        for (;;) {
            if (!value(depth + 1)) return false;
            skip_blanks();
            if (next_is(']')) return close(']');
            if (!comma()) return false;
        }
    }

    bool close(char bracket) {
        ++at_;
        own_ += bracket;
        return true;
    }

    bool comma() {
        if (!next_is(',')) return false;
        ++at_;
        own_.append(", ");
        skip_blanks();
        return true;
    }

    bool value(int depth) {
        const bool is_text = is_text_;
        is_text_ = false;
        if (at_ >= line_.size() || depth > deepest_) return false;
        const char c = line_[at_];
        if (c == '"') {
            Text text;
            bool escapes;
            if (!string(text, escapes)) return false;
            if (is_text) {
                kind_ = is_blank_text(text) ? RecordKind::empty : RecordKind::row;
                copied_ = escapes;
                text_ = escapes ? Text(text_copy_ = text) : text;
            }
            return true;
        }
        if (is_text && c != 'n') return false;  // not a text
        if (c == '{') return object(depth);
        if (c == '[') return array(depth);
        if (c == '-' || (c >= '0' && c <= '9')) return number();
        for (const Text word : {Text("null"), Text("true"), Text("false")})
            if (line_.substr(at_).starts_with(word)) {
                at_ += word.size();
                own_.append(word);
                if (is_text) kind_ = RecordKind::empty, text_ = {};
                return true;
            }
        return false;
    }

    // A string; where it has escapes what they stand for is in `decoded_`.
    bool string(Text& found, bool& escapes) {
        const size_t start = ++at_;
        escapes = false;
        for (;; ++at_) {
            if (at_ >= line_.size()) return false;
            const uint8_t c = byte_at(line_, at_);
            if (c == '"') break;
            if (c < 0x20) return false;
            if (c == '\\') {
                if (!escapes) decoded_.assign(line_.substr(start, at_ - start));
                escapes = true;
                if (!escape()) return false;
            } else if (escapes) {
                decoded_ += line_[at_];
            }
        }
        found = escapes ? Text(decoded_) : line_.substr(start, at_ - start);
        ++at_;
        if (escapes) {
            put_json_string(own_, found);
        } else {
            own_ += '"';
            own_.append(found) += '"';
        }
        return true;
    }

    // What a backslash begins, up to its last character.
    bool escape() {
        static constexpr Text names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
        if (++at_ >= line_.size()) return false;
        if (const size_t which = names.find(line_[at_]); which != Text::npos) {
            decoded_ += values[which];
            return true;
        }
        uint32_t code, low;
        if (line_[at_] != 'u' || !hex(code)) return false;
        if (code >= 0xD800 && code < 0xE000) {  // half of a character: with its other half, or not at all
            if (code >= 0xDC00 || !line_.substr(at_ + 1).starts_with("\\u")) return false;
            at_ += 2;
            if (!hex(low) || low < 0xDC00 || low >= 0xE000) return false;
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        }
        u8 bytes[4];
        decoded_.append(reinterpret_cast<const char*>(bytes), encode(code, bytes));
        return true;
    }

    bool hex(uint32_t& code) {  // from the u on
        if (at_ + 4 >= line_.size()) return false;
        const char* start = line_.data() + at_ + 1;
        const auto [end, error] = std::from_chars(start, start + 4, code, 16);
        at_ += 4;
        return error == std::errc{} && end == start + 4;
    }

    bool digits() {
        const size_t start = at_;
        while (at_ < line_.size() && line_[at_] >= '0' && line_[at_] <= '9') ++at_;
        return at_ > start;
    }

    // Whole numbers stay as they are, up to a length at which Python has them in one piece; of others the value counts.
    bool number() {
        const size_t start = at_;
        at_ += next_is('-');
        const size_t first = at_;
        if (!digits() || (line_[first] == '0' && at_ > first + 1)) return false;
        bool whole = true;
        if (next_is('.')) {
            whole = false;
            ++at_;
            if (!digits()) return false;
        }
        if (next_is('e') || next_is('E')) {
            whole = false;
            ++at_;
            at_ += next_is('+') || next_is('-');
            if (!digits()) return false;
        }
        const Text written = line_.substr(start, at_ - start);
        if (whole) {
            own_.append(written);
            return written.size() < 400 && written != "-0";
        }
        double value;
        if (!read_number(written, value)) return false;
        put_number(own_, value);
        return true;
    }
};

}  // namespace textmargin
