// What of bytes is text: UTF-8 as Python decodes it strictly, and texts that are blank to Python.
#pragma once

#include <cstdint>

#include "strings.hpp"
#include "unicode.hpp"

namespace textmargin {

inline uint8_t byte_at(Text text, size_t i) { return static_cast<uint8_t>(text[i]); }
inline const u8* bytes_of(Text text) { return reinterpret_cast<const u8*>(text.data()); }
inline bool is_ascii(Text text) { return is_ascii(bytes_of(text), text.size()); }

// Shortest forms only, no surrogates, nothing above U+10FFFF.
inline bool is_utf8(Text text) {
    const u8* s = bytes_of(text);
    for (size_t i = 0; i < text.size();) {
        if (i + 8 <= text.size() && !(load(s + i) & HIGH_BITS)) {
            i += 8;
            continue;
        }
        if (s[i] < 0x80) {
            ++i;
            continue;
        }
        const unsigned size = s[i] < 0xC2 ? 0 : s[i] < 0xE0 ? 2 : s[i] < 0xF0 ? 3 : s[i] < 0xF5 ? 4 : 0;
        if (size == 0 || i + size > text.size()) return false;
        for (unsigned k = 1; k < size; ++k)
            if (!continues(s[i + k])) return false;
        unsigned same;
        const u32 c = decode(s + i, same);
        if ((size == 3 && (c < 0x800 || (c >= 0xD800 && c < 0xE000))) || (size == 4 && (c < 0x10000 || c > 0x10FFFF))) return false;
        i += size;
    }
    return true;
}

// Whether str.strip leaves nothing of it.
inline bool is_blank_text(Text text) {
    unsigned size;
    for (size_t i = 0; i < text.size(); i += size) {
        const u32 c = decode(bytes_of(text) + i, size);
        const bool space = (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
                           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
        if (!space) return false;
    }
    return true;
}

}  // namespace textmargin
