// What of bytes is text: UTF-8 as Python decodes it strictly, and texts that are blank to Python.
#pragma once

#include <cstdint>
#include <cstring>

#include "strings.hpp"

namespace textmargin {

inline uint8_t byte_at(Text text, size_t i) { return static_cast<uint8_t>(text[i]); }

// The code point of valid UTF-8 that begins at i, which moves behind it.
inline uint32_t code_point(Text text, size_t& i) {
    const uint8_t first = byte_at(text, i++);
    if (first < 0x80) return first;
    const int more = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
    uint32_t code = first & (0x3Fu >> more);
    for (int k = 0; k < more; ++k) code = code << 6 | (byte_at(text, i++) & 0x3Fu);
    return code;
}

inline bool is_ascii(Text text) {
    size_t i = 0;
    for (uint64_t word; i + 8 <= text.size(); i += 8) {
        std::memcpy(&word, text.data() + i, 8);
        if (word & 0x8080808080808080u) return false;
    }
    for (; i < text.size(); ++i)
        if (byte_at(text, i) >= 0x80) return false;
    return true;
}

// Shortest forms only, no surrogates, nothing above U+10FFFF.
inline bool is_utf8(Text text) {
    for (size_t i = 0; i < text.size();) {
        if (uint64_t word; i + 8 <= text.size() && (std::memcpy(&word, text.data() + i, 8), !(word & 0x8080808080808080u))) {
            i += 8;
            continue;
        }
        const uint8_t first = byte_at(text, i);
        if (first < 0x80) {
            ++i;
            continue;
        }
        const size_t size = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
        if (size == 0 || i + size > text.size()) return false;
        for (size_t k = 1; k < size; ++k)
            if ((byte_at(text, i + k) & 0xC0) != 0x80) return false;
        const uint32_t code = code_point(text, i);
        if (size == 3 && (code < 0x800 || (code >= 0xD800 && code < 0xE000))) return false;
        if (size == 4 && (code < 0x10000 || code > 0x10FFFF)) return false;
    }
    return true;
}

// Whether str.strip leaves nothing of it.
inline bool is_blank_text(Text text) {
    for (size_t i = 0; i < text.size();) {
        const uint32_t c = code_point(text, i);
        const bool space = (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
                           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
        if (!space) return false;
    }
    return true;
}

}  // namespace textmargin
