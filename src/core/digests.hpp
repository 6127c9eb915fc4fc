// The 64-bit BLAKE2b (RFC 7693, no key) of a text without its white space, as hashlib.blake2b(digest_size=8) computes it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace textmargin {

class Blake2b64 {
    static constexpr size_t block_size = 128;
    static constexpr std::array<uint64_t, 8> start{0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                                   0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
    static constexpr uint8_t order[10][16] = {
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
        {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
        {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
        {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
        {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

    std::array<uint64_t, 8> h_ = start;
    std::array<uint8_t, block_size> block_;
    size_t n_ = 0;        // bytes in the block
    uint64_t total_ = 0;  // bytes before it

    void compress(uint64_t total, bool last) {
        uint64_t v[16], m[16];
        for (int i = 0; i < 8; ++i) v[i] = h_[i], v[8 + i] = start[i];
        v[12] ^= total;
        if (last) v[14] = ~v[14];
        for (int i = 0; i < 16; ++i) {
            m[i] = 0;
            for (int k = 7; k >= 0; --k) m[i] = m[i] << 8 | block_[8 * i + k];
        }
        auto mix = [&](int a, int b, int c, int d, uint64_t x, uint64_t y) {
            v[a] += v[b] + x, v[d] = std::rotr(v[d] ^ v[a], 32);
            v[c] += v[d], v[b] = std::rotr(v[b] ^ v[c], 24);
            v[a] += v[b] + y, v[d] = std::rotr(v[d] ^ v[a], 16);
            v[c] += v[d], v[b] = std::rotr(v[b] ^ v[c], 63);
        };
#pragma GCC unroll 12  // so that which words are mixed is known when it is compiled: a quarter faster
        for (int round = 0; round < 12; ++round) {
            const uint8_t* s = order[round % 10];
            for (int i = 0; i < 4; ++i) mix(i, 4 + i, 8 + i, 12 + i, m[s[2 * i]], m[s[2 * i + 1]]);
            for (int i = 0; i < 4; ++i)  // and the diagonals
                mix(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, m[s[8 + 2 * i]], m[s[9 + 2 * i]]);
        }
        for (int i = 0; i < 8; ++i) h_[i] ^= v[i] ^ v[8 + i];
    }

  public:
    Blake2b64() { h_[0] ^= 0x01010000 ^ 8; }

    void add(char c) {
        if (n_ == block_size) {  // only now is it known not to be the last
            compress(total_ += block_size, false);
            n_ = 0;
        }
        block_[n_++] = static_cast<uint8_t>(c);
    }

    uint64_t digest() {
        std::memset(block_.data() + n_, 0, block_size - n_);
        compress(total_ + n_, true);
        return h_[0];
    }
};

inline uint64_t text_digest(std::string_view text) {
    Blake2b64 hash;
    for (const char c : text)
        if (c != ' ' && (c < '\t' || c > '\r')) hash.add(c);
    return hash.digest();
}

}  // namespace textmargin
