// UTF-8, and what texts are made of: for every code point its lower case and what kind of character that is.
//
// The table is asked of the Python that runs (`representations/_characters.py`), so that both agree on every version of Unicode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace textmargin {

using u8 = uint8_t;
using u32 = uint32_t;
using u64 = uint64_t;

constexpr u32 CODE_POINTS = 0x110000;
constexpr u32 POINT = (1u << 21) - 1;  // in an entry of the table: the lower case
constexpr u32 ALPHANUMERIC = 1u << 21, DECIMAL = 1u << 22, MARK = 1u << 23, SYMBOL = 1u << 24, REGIONAL = 1u << 25, SPACE = 1u << 26;
constexpr u32 RUN = 7u << 27;          // the script, of those without blanks: which one
constexpr u32 RUN_OF_PAIRS = 1u << 27;  // Chinese and Japanese
constexpr u32 CASED = 1u << 30, IGNORABLE = 1u << 31;
constexpr u32 CAPITAL_SIGMA = 0x3A3, DOTTED_I = 0x130;  // the two that str.lower does not treat one by one

inline u64 load(const void* p) {
    u64 x;
    std::memcpy(&x, p, 8);
    return x;
}

constexpr u64 HIGH_BITS = 0x8080808080808080;

inline bool is_ascii(const u8* s, size_t n) {
    size_t i = 0;
    for (u64 bits; i + 32 <= n; i += 32) {
        bits = load(s + i) | load(s + i + 8) | load(s + i + 16) | load(s + i + 24);
        if (bits & HIGH_BITS) return false;
    }
    for (; i < n; ++i)
        if (s[i] & 0x80) return false;
    return true;
}

inline bool continues(u8 byte) { return (byte & 0xC0) == 0x80; }

// The code point that begins at s, which is valid UTF-8 but for lone surrogates.
inline u32 decode(const u8* s, unsigned& size) {
    const u32 c = s[0];
    if (c < 0x80) return size = 1, c;
    if (c < 0xE0) return size = 2, (c & 0x1F) << 6 | (s[1] & 0x3F);
    if (c < 0xF0) return size = 3, (c & 0x0F) << 12 | (s[1] & 0x3F) << 6 | (s[2] & 0x3F);
    return size = 4, (c & 0x07) << 18 | (s[1] & 0x3F) << 12 | (s[2] & 0x3F) << 6 | (s[3] & 0x3F);
}

inline size_t encode(u32 c, u8* out) {
    if (c < 0x80) return out[0] = u8(c), 1;
    if (c < 0x800) return out[0] = u8(0xC0 | c >> 6), out[1] = u8(0x80 | (c & 0x3F)), 2;
    if (c < 0x10000) return out[0] = u8(0xE0 | c >> 12), out[1] = u8(0x80 | (c >> 6 & 0x3F)), out[2] = u8(0x80 | (c & 0x3F)), 3;
    out[0] = u8(0xF0 | c >> 18), out[1] = u8(0x80 | (c >> 12 & 0x3F));
    return out[2] = u8(0x80 | (c >> 6 & 0x3F)), out[3] = u8(0x80 | (c & 0x3F)), 4;
}

// The lower case of the capital sigma at s[i]: a final one where a cased letter stands before it and none behind it, ignorable
// characters aside.
inline u32 lower_sigma(const u32* points, const u8* s, size_t n, size_t i) {
    unsigned size;
    bool last = false;
    for (size_t j = i; j > 0;) {
        do --j;
        while (continues(s[j]));
        const u32 c = points[decode(s + j, size)];
        if (c & IGNORABLE) continue;
        last = c & CASED;
        break;
    }
    for (size_t j = i + 2; last && j < n; j += size) {
        const u32 c = points[decode(s + j, size)];
        if (c & IGNORABLE) continue;
        last = !(c & CASED);
        break;
    }
    return last ? 0x3C2 : 0x3C3;
}

}  // namespace textmargin
