// From a text to its terms, a batch at a time, as keys that are looked up together.
#pragma once

#include <bit>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <vector>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "cleaning.hpp"
#include "terms.hpp"

namespace textmargin {

constexpr size_t BATCH = 256;  // so that memory is asked for all of them before the first is needed

struct Analyzer {
    Cleaner clean;
    u32 shortest;      // characters of a pattern's shortest word, 1 or 2
    u32 min_n, max_n;  // words, or characters, of a term
    bool shapes;       // whether a number is how many digits it has
    std::unordered_set<std::string> exact_numbers;  // that stay what they are
    std::vector<std::string> stop_words;

    bool by_characters() const { return clean.kind == Kind::character || clean.kind == Kind::character_wb; }
};

// Where 64 bytes are not zero.
inline u64 nonzero(const u8* p) {
#if defined(__SSE2__)
    u64 zero = 0;
    for (int k = 0; k < 4; ++k) {
        const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16 * k));
        zero |= u64(u32(_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_setzero_si128())))) << 16 * k;
    }
    return ~zero;
#else
    u64 bits = 0;
    for (int k = 0; k < 64; ++k) bits |= u64(p[k] != 0) << k;
    return bits;
#endif
}

// Of one thread: its memory is used again for every text.
class Splitter {
    const Analyzer& analyzer_;
    std::vector<u8> bytes_;
    u32 edges_[BATCH * 2 + 72];
    Key keys_[BATCH + 40];
    size_t n_keys_ = 0;
    std::vector<u32> starts_;  // of characters

  public:
    explicit Splitter(const Analyzer& analyzer) : analyzer_(analyzer) {}

    // f(keys, how many), as often as it takes: words, or sequences of characters.
    template <class F>
    void operator()(Text text, F&& f) {
        if (text.size() > size_t{1} << 29) throw std::length_error("a text of more than 512 MiB; cut it into parts");
        const size_t room = analyzer_.clean.room(text.size());
        if (bytes_.size() < room + 1) bytes_.assign(room * 2, 0);
        u8* out = bytes_.data() + 1;  // a zero stands before it
        out[-1] = 0;
        const size_t n = analyzer_.clean(text, out);
        n_keys_ = 0;
        if (analyzer_.clean.kind == Kind::character)
            all_characters(out, n, f);
        else
            words(out, n, f);
        if (n_keys_) f(keys_, n_keys_);
    }

  private:
    template <class F>
    void words(u8* out, size_t n, F& f) {
        size_t n_edges = 0;
        u64 carry = 0;
        for (size_t i = 0; i <= n; i += 64) {
            const u64 inside = nonzero(out + i);
            u64 edge = inside ^ (inside << 1 | carry);
            carry = inside >> 63;
            u32* to = edges_ + n_edges;
            n_edges += size_t(std::popcount(edge));
            for (; to < edges_ + n_edges; to += 8)  // eight at a time, some of them one too many: hardly a branch goes wrong
                for (int k = 0; k < 8; ++k, edge &= edge - 1) to[k] = u32(i) + u32(std::countr_zero(edge));
            if (n_edges >= 2 * BATCH || i + 64 > n) {
                if (analyzer_.clean.kind == Kind::pattern)
                    patterns(out, n_edges);
                else
                    for (size_t e = 0; e + 1 < n_edges; e += 2) one_word(out, edges_[e], edges_[e + 1], f);
                if (!analyzer_.by_characters()) f(keys_, n_keys_), n_keys_ = 0;
                if (n_edges % 2) edges_[0] = edges_[n_edges - 1];
                n_edges %= 2;
            }
        }
    }

    void patterns(const u8* out, size_t n_edges) {
        const u32 shortest = analyzer_.shortest;
        Key* to = keys_;  // in registers: keys that are written might be the count of them, for all the compiler knows
        for (const u32 *edge = edges_, *end = edges_ + n_edges / 2 * 2; edge < end; edge += 2) {
            to->set_word(out + edge[0], edge[1] - edge[0]);
            to += to->n_points() >= shortest;
        }
        n_keys_ = size_t(to - keys_);
    }

    template <class F>
    void one_word(u8* out, u32 begin, u32 end, F& f) {
        if (analyzer_.clean.kind != Kind::word) return characters_of_word(out, begin, end, f);
        Key& key = keys_[n_keys_];
        key.set_word(out + begin, end - begin);
        n_keys_ += is_term(key, out + begin);
    }

    // Whether one of our own words is a term: a single letter is none. A number becomes its shape, in place.
    bool is_term(Key& key, u8* p) const {
        const u8 first = *p;
        const bool digit = u8(first - '0') < 10;
        if (key.size == 1 && !digit) return first == '$';
        if (!analyzer_.shapes || (!digit && first < 0x80)) return true;
        u32 n_points = 0;
        unsigned size;
        for (u32 i = 0; i < key.size; i += size, ++n_points) {
            const u32 c = decode(p + i, size);
            if (c < 0x80 ? c - '0' >= 10 : !(analyzer_.clean.points[c] & DECIMAL)) return true;
        }
        if (!analyzer_.exact_numbers.empty() && analyzer_.exact_numbers.contains({reinterpret_cast<const char*>(p), key.size}))
            return true;
        std::memset(p, '#', n_points);
        key.set_word(p, n_points);
        return true;
    }

    template <class F>
    void add(const u8* out, u32 begin, u32 end, F& f) {
        keys_[n_keys_++].set_word(out + begin, end - begin);
        if (n_keys_ >= BATCH) f(keys_, n_keys_), n_keys_ = 0;
    }
    static bool starts(u8 byte) { return !continues(u8(byte - 1)); }  // bytes of characters are one more

    // What stands between blanks, with a space on either side, in pieces.
    template <class F>
    void characters_of_word(u8* out, u32 begin, u32 end, F& f) {
        u8* padded = out - 1;  // so that the space before the first word has a place
        end += 2;
        padded[begin] = padded[end - 1] = ' ' + 1;  // where the zeros were
        if (analyzer_.max_n <= 8 && is_ascii(padded + begin, end - begin)) {  // a character is a byte
            for (u32 n = analyzer_.min_n; n <= analyzer_.max_n; ++n) {
                if (n >= end - begin) return add(padded, begin, end, f);
                for (u32 k = begin; k + n <= end; ++k) {
                    keys_[n_keys_++].set_short(padded + k, n);
                    if (n_keys_ >= BATCH) f(keys_, n_keys_), n_keys_ = 0;
                }
            }
            return;
        }
        starts_.clear();
        for (u32 k = begin; k < end; ++k)
            if (starts(padded[k])) starts_.push_back(k);
        const u32 n_points = u32(starts_.size());
        starts_.push_back(end);
        for (u32 n = analyzer_.min_n; n <= analyzer_.max_n; ++n) {
            if (n >= n_points) return add(padded, begin, end, f);  // a short word counts once
            for (u32 k = 0; k + n <= n_points; ++k) add(padded, starts_[k], starts_[k + n], f);
        }
    }

    template <class F>
    void all_characters(const u8* out, size_t n, F& f) {
        starts_.clear();
        for (u32 k = 0; k < n; ++k)
            if (starts(out[k])) starts_.push_back(k);
        const size_t n_points = starts_.size();
        starts_.push_back(u32(n));
        for (size_t m = analyzer_.min_n; m <= std::min<size_t>(analyzer_.max_n, n_points); ++m)
            for (size_t k = 0; k + m <= n_points; ++k) add(out, starts_[k], starts_[k + m], f);
    }
};

}  // namespace textmargin
