// A text to the bytes of its words in lower case with a zero between them, 32 bytes at a time where it is ASCII.
#pragma once

#include <algorithm>
#include <vector>

#include "strings.hpp"
#include "unicode.hpp"

namespace textmargin {

// What a word is.
//   pattern   runs of \w, or of letters alone: scikit-learn's words, and the papers'
//   word      our own: letters and digits with their marks, symbols, pieces of texts without blanks (`representations/words.py`)
//   char      no words: all characters, several blanks in a row one space, and every byte one more, so that none is zero
//   char_wb   whatever stands between blanks, and every byte one more
enum class Kind { pattern, word, character, character_wb };

struct Cleaner {
    Kind kind;
    bool lowercase, digits, underscore;  // whether these are part of a pattern's words
    const u32* points = nullptr;         // for all code points (unicode.hpp); only asked where a text is not ASCII

    // Room for the longest that can come out: Chinese characters, each alone and with the next, and what is read beyond the end.
    size_t room(size_t n) const { return 4 * n + 256; }

    // Writes to `out`, before which a byte is zero, and zeros behind it; gives how many bytes.
    size_t operator()(Text text, u8* out) const {
        const auto* s = reinterpret_cast<const u8*>(text.data());
        const size_t n = text.size();
        size_t i = 0, o = 0;
        while (i < n) {
            const size_t size = std::min<size_t>(32, n - i);
            u8 padded[32] = {};
            const u8* from = size < 32 ? static_cast<const u8*>(std::memcpy(padded, s + i, size)) : s + i;
            if (!((load(from) | load(from + 8) | load(from + 16) | load(from + 24)) & HIGH_BITS) && plain(from, size)) {
                block<32>(from, out + o);
                i += size, o += size;
                continue;
            }
            for (const size_t end = i + size; i < end;)  // eight at a time between characters that are not ASCII
                if (i + 8 <= n && !(load(s + i) & HIGH_BITS) && plain(s + i, 8))
                    block<8>(s + i, out + o), i += 8, o += 8;
                else
                    i = step(s, n, i, out, o);
        }
        std::memset(out + o, 0, 128);
        return o;
    }

  private:
    // Whether every byte of a block of ASCII stands for one byte.
    bool plain(const u8* s, size_t size) const {
        if (kind == Kind::pattern || kind == Kind::character_wb) return true;
        if (kind == Kind::word) return !std::memchr(s, '$', size);  // a word by itself, with no blanks around it
        return false;                                              // several blanks may be one
    }

    template <int size>
    void block(const u8* s, u8* out) const {
        const u8 fold = lowercase ? 0x20 : 0;
        if (kind == Kind::character_wb) {
            for (int k = 0; k < size; ++k) {
                const u8 c = s[k], upper = u8(c - 'A') < 26 ? fold : 0;
                out[k] = (is_space(c) ? 0 : 0xFF) & u8((c | upper) + 1);
            }
            return;
        }
        const u8 digit = kind == Kind::word || digits ? 0xFF : 0, line = kind == Kind::pattern && underscore ? 0xFF : 0;
        for (int k = 0; k < size; ++k) {
            const u8 c = s[k], letter = u8((c | 0x20) - 'a') < 26 ? 0xFF : 0;
            const u8 other = (u8(c - '0') < 10 ? digit : 0) | (c == '_' ? line : 0);
            out[k] = (letter & (c | fold)) | (other & c);
        }
    }

    static bool is_space(u8 c) { return (c == ' ') | (u8(c - 9) < 5) | (u8(c - 0x1C) < 4); }

    // ASCII needs no table.
    u32 entry(u32 c) const {
        if (c >= 0x80) return points[c];
        const bool upper = c - 'A' < 26, letter = (c | 0x20) - 'a' < 26, digit = c - '0' < 10;
        return (upper && lowercase ? c | 0x20 : c) | (letter || digit ? ALPHANUMERIC : 0) | (digit ? DECIMAL : 0) |
               (is_space(u8(c)) ? SPACE : 0) | (c == '$' ? SYMBOL : 0);
    }
    u32 lower(u32 entry, u32 c, const u8* s, size_t n, size_t i) const {
        return c == CAPITAL_SIGMA && lowercase ? lower_sigma(points, s, n, i) : entry & POINT;
    }

    // The character at s[i], and as many behind it as belong to it; gives where the next begins.
    size_t step(const u8* s, size_t n, size_t i, u8* out, size_t& o) const {
        unsigned size;
        const u32 c = decode(s + i, size), e = entry(c);
        const bool dotted = c == DOTTED_I && lowercase;  // in lower case an i and a dot above, which is a mark
        if (kind == Kind::word) return step_word(s, n, i, out, o, c, e, size, dotted);
        if (kind == Kind::pattern) {
            const bool inside = e & ALPHANUMERIC ? digits || !(e & DECIMAL) : c == '_' && underscore;
            o += encode(inside ? lower(e, c, s, n, i) : 0, out + o);
            if (dotted) out[o++] = 0;
            return i + size;
        }
        const size_t start = o;
        if (e & SPACE) {
            size_t j = i + size;
            for (unsigned more; kind == Kind::character && j < n && (entry(decode(s + j, more)) & SPACE);) j += more;
            if (kind == Kind::character_wb) return out[o++] = 0, j;
            o += encode(j > i + size ? ' ' : e & POINT, out + o);
            i = j - size;
        } else {
            o += encode(lower(e, c, s, n, i), out + o);
            if (dotted) o += encode(0x307, out + o);
        }
        for (size_t k = start; k < o; ++k) ++out[k];
        return i + size;
    }

    static bool in_word(u32 e) { return (e & ALPHANUMERIC) && !(e & RUN); }

    size_t step_word(const u8* s, size_t n, size_t i, u8* out, size_t& o, u32 c, u32 e, unsigned size, bool dotted) const {
        const bool open = o > 0 && out[o - 1];  // a word goes on
        unsigned more;
        if (in_word(e)) {
            size_t next = i + size;
            const bool joins = next < n && (in_word(more_entry(s, next)) || (more_entry(s, next) & MARK));
            if (!open && c >= 0x80 && !(e & DECIMAL) && !joins && !dotted) return out[o++] = 0, next;  // a letter alone
            o += encode(lower(e, c, s, n, i), out + o);
            if (dotted) o += encode(0x307, out + o);
            return next;
        }
        if ((e & MARK) && open) return o += encode(e & POINT, out + o), i + size;
        if (e & DECIMAL) {  // of a script without blanks: a number with all digits behind it, and with a single one before it
            if (open && !is_digit(out, o)) out[o++] = 0;
            for (; i < n && (entry(c = decode(s + i, more)) & DECIMAL); i += more) o += encode(c, out + o);
            return out[o++] = 0, i;
        }
        if (open) out[o++] = 0;
        if (e & RUN) return cut_run(s, n, i, out, o, e & RUN);
        const size_t end = i + size;
        if ((e & REGIONAL) && end < n && (entry(decode(s + end, more)) & REGIONAL))  // two make a flag
            return copy(s, i, end + more, out, o), end + more;
        if (e & SYMBOL) o += encode(e & POINT, out + o);  // some have a lower case: Ⓐ
        return out[o++] = 0, end;
    }
    u32 more_entry(const u8* s, size_t i) const {
        unsigned size;
        return entry(decode(s + i, size));
    }

    // Whether the word that goes on is a single digit so far.
    bool is_digit(const u8* out, size_t o) const {
        size_t start = o;
        while (start > 0 && out[start - 1]) --start;
        unsigned size;
        return (entry(decode(out + start, size)) & DECIMAL) && start + size == o;
    }

    // Characters of a script without blanks: alone and in pairs, or in triples.
    size_t cut_run(const u8* s, size_t n, size_t i, u8* out, size_t& o, u32 script) const {
        size_t end = i, n_points = 0;
        unsigned size;
        for (; end < n; end += size, ++n_points) {
            const u32 e = entry(decode(s + end, size));
            if ((e & RUN) != script || (e & DECIMAL)) break;
        }
        if (script == RUN_OF_PAIRS) {
            copy_pieces(s, i, end, 1, out, o);
            copy_pieces(s, i, end, 2, out, o);
        } else {
            copy_pieces(s, i, end, std::min<size_t>(n_points, 3), out, o);
        }
        return end;
    }
    // All pieces of so many characters.
    static void copy_pieces(const u8* s, size_t i, size_t end, size_t n_points, u8* out, size_t& o) {
        auto next = [&](size_t k) {
            do ++k;
            while (k < end && continues(s[k]));
            return k;
        };
        size_t stop = i;
        for (size_t k = 0; k < n_points; ++k, stop = next(stop))
            if (stop >= end) return;
        for (;; i = next(i), stop = next(stop)) {
            copy(s, i, stop, out, o);
            if (stop >= end) return;
        }
    }
    static void copy(const u8* s, size_t i, size_t end, u8* out, size_t& o) {
        std::memcpy(out + o, s + i, end - i);
        o += end - i;
        out[o++] = 0;
    }
};

}  // namespace textmargin
