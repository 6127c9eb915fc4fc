// Terms by number, and the way from a term to its number: an open hash table whose slots hold most terms whole.
#pragma once

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>
#include <vector>

#include "strings.hpp"
#include "unicode.hpp"

namespace textmargin {

static_assert(std::endian::native == std::endian::little, "the bytes of a term are compared as numbers");

constexpr u32 NONE = ~0u;
constexpr size_t PADDING = 16;  // bytes that may be read behind a term

inline u64 mix(u64 a, u64 b) {
    const auto product = static_cast<unsigned __int128>(a ^ 0x9E3779B97F4A7C15) * (b ^ 0xE7037ED1A0B428DB);
    return static_cast<u64>(product) ^ static_cast<u64>(product >> 64);
}

// A term as it is hashed and compared. Up to 16 bytes, none of them 0: the bytes themselves, in `a` and `b`. Longer: a hash whose
// lowest byte is 0, and the bytes must be looked at. A sequence of words: its numbers, that of all words but the last and of that.
struct Key {
    u64 a, b, hash;
    const u8* at;
    u32 size;  // 0 of sequences

    // Field by field: a whole Key copied through memory stalls until its parts have been written.
    [[gnu::always_inline]] void set_word(const u8* p, u32 n) {
        if (n <= 16) [[likely]] {
            a = load(p) & mask(n), b = load(p + 8) & mask(n > 8 ? n - 8 : 0);
        } else {
            u64 h = n;
            for (u32 i = 0; i + 8 <= n; i += 8) h = mix(h, load(p + i));
            a = mix(h, load(p + n - 8)) << 16, b = n;
        }
        hash = mix(a, b), at = p, size = n;
    }
    void set_short(const u8* p, u32 n) {  // of at most eight bytes
        a = load(p) & mask(n), b = 0;
        hash = mix(a, b), at = p, size = n;
    }
    static Key word(const u8* p, u32 n) {
        Key key;
        key.set_word(p, n);
        return key;
    }
    static Key sequence(u32 first, u32 last) {
        const u64 b = u64{first} << 32 | last;
        return {0x100, b, mix(0x100, b), nullptr, 0};
    }
    bool must_look() const { return size > 16; }
    // Characters, as far as the first eight bytes tell: enough to know whether there are two.
    u32 n_points() const {
        const u64 later = a & ~(a << 1) & HIGH_BITS;  // bytes that go on with a character
        return must_look() ? 2 : size - u32((later >> 7) * 0x0101010101010101 >> 56);
    }

  private:
    static u64 mask(u32 n) {  // the first n bytes of eight
        static constexpr u64 masks[9] = {0,           0xFF,         0xFFFF,       0xFFFFFF, ~u64{0} >> 32, ~u64{0} >> 24,
                                         ~u64{0} >> 16, ~u64{0} >> 8, ~u64{0}};
        return masks[std::min(n, 8u)];
    }
};

struct Slot {
    u64 a, b;
    u32 id = NONE;
    u32 column = NONE;  // of the matrix, where it has one
    u32 row, place;     // the last text that it was met in, and where its count stands there
};

class TermTable {
    struct Term {
        u64 at;          // where its bytes begin; of a sequence, the number of all words but the last
        u32 size, last;  // bytes; of a sequence, 0 and the number of the last word
    };
    std::vector<Slot> slots_ = std::vector<Slot>(1024);
    std::vector<Term> terms_;
    std::vector<u8> bytes_ = std::vector<u8>(PADDING);

  public:
    u32 size() const { return u32(terms_.size()); }
    bool is_word(u32 id) const { return terms_[id].size > 0; }
    u32 parent(u32 id) const { return u32(terms_[id].at); }
    u32 last_word(u32 id) const { return terms_[id].last; }
    const u8* bytes(u32 id) const { return bytes_.data() + terms_[id].at; }
    Text word(u32 id) const { return {reinterpret_cast<const char*>(bytes(id)), terms_[id].size}; }
    void spell(u32 id, std::string& out) const {
        if (!is_word(id)) spell(parent(id), out), out += ' ', id = last_word(id);
        out += word(id);
    }
    Key key(u32 id) const { return is_word(id) ? Key::word(bytes(id), terms_[id].size) : Key::sequence(parent(id), last_word(id)); }

    void prefetch(const Key& key) const { __builtin_prefetch(&slots_[key.hash & (slots_.size() - 1)]); }
    const Slot& find(const Key& key) const { return slots_[place(key)]; }  // one without a number where the term is not there
    Slot& get(const Key& key) {                                            // after make_room
        Slot& slot = slots_[place(key)];
        if (slot.id == NONE) insert(slot, key);
        return slot;
    }
    void make_room(size_t more) {  // at most half of the slots are taken
        if (terms_.size() + more > NONE / 2) throw std::length_error("more than 2 billion terms");  // columns are signed
        if ((terms_.size() + more) * 2 <= slots_.size()) return;
        std::vector<Slot> old(std::bit_ceil((terms_.size() + more) * 3));
        old.swap(slots_);
        const size_t mask = slots_.size() - 1;
        for (const Slot& slot : old) {
            if (slot.id == NONE) continue;
            size_t i = mix(slot.a, slot.b) & mask;
            while (slots_[i].id != NONE) i = (i + 1) & mask;
            slots_[i] = slot;
        }
    }
    // Columns by number.
    void set_columns(const std::vector<u32>& column) {
        for (Slot& slot : slots_) slot.column = slot.id == NONE ? NONE : column[slot.id];
    }

  private:
    [[gnu::noinline]] void insert(Slot& slot, const Key& key) {
        slot = {key.a, key.b, size(), NONE, NONE, 0};
        if (key.size) {
            bytes_.insert(bytes_.end() - PADDING, key.at, key.at + key.size);
            terms_.push_back({bytes_.size() - PADDING - key.size, key.size, NONE});
        } else {
            terms_.push_back({key.b >> 32, 0, u32(key.b)});
        }
    }
    [[gnu::always_inline]] size_t place(const Key& key) const {  // where it stands, or where it would
        const size_t mask = slots_.size() - 1;
        for (size_t i = key.hash & mask;; i = (i + 1) & mask) {
            const Slot& slot = slots_[i];  // whether it is known is anyone's guess, that it is decided here is not: one branch
            if ((slot.id == NONE) | ((slot.a == key.a) & (slot.b == key.b)))
                if (!key.must_look() || slot.id == NONE || same(slot.id, key)) return i;
        }
    }
    bool same(u32 id, const Key& key) const { return word(id) == Text(reinterpret_cast<const char*>(key.at), key.size); }
};

// Where each term from `first` on stands in alphabetical order. A space sorts before every character of a word, so that sequences
// are in the order of their words: that of a walk through the tree in which each hangs under the one without its last word.
inline std::vector<u32> alphabetical(const TermTable& table, u32 first) {
    const u32 n = table.size();
    struct Sortable {
        u64 a, b;  // the first sixteen bytes, as large numbers compare
        u32 id;
    };
    std::vector<Sortable> words;
    auto beginning = [](u64 x, int n) { return n <= 0 ? 0 : n >= 8 ? x : x & ~u64{0} << (64 - 8 * n); };
    for (u32 id = first; id < n; ++id) {
        if (!table.is_word(id)) continue;
        const u8* p = table.bytes(id);
        const int size = int(std::min<size_t>(table.word(id).size(), 16));
        words.push_back({beginning(__builtin_bswap64(load(p)), size), beginning(__builtin_bswap64(load(p + 8)), size - 8), id});
    }
    std::sort(words.begin(), words.end(), [&](const Sortable& x, const Sortable& y) {
        return x.a != y.a ? x.a < y.a : x.b != y.b ? x.b < y.b : table.word(x.id) < table.word(y.id);
    });
    std::vector<u32> position(n, NONE);
    if (words.size() == n - first) {
        for (u32 k = 0; k < n - first; ++k) position[words[k].id] = k;
        return position;
    }
    // Children of each term in the order of their last word: a stable counting sort by parent of one by last word.
    std::vector<u32> rank(n), by_last(n - first - words.size()), children(by_last.size());
    std::vector<u32> last_begins(words.size() + 1), begins(n + 1);
    for (u32 k = 0; k < words.size(); ++k) rank[words[k].id] = k;
    for (u32 id = first; id < n; ++id)
        if (!table.is_word(id)) ++last_begins[rank[table.last_word(id)] + 1], ++begins[table.parent(id) + 1];
    for (size_t k = 1; k < last_begins.size(); ++k) last_begins[k] += last_begins[k - 1];
    for (size_t k = 1; k < begins.size(); ++k) begins[k] += begins[k - 1];
    for (u32 id = first; id < n; ++id)
        if (!table.is_word(id)) by_last[last_begins[rank[table.last_word(id)]]++] = id;
    std::vector<u32> next_child(begins.begin(), begins.end() - 1), stack;
    for (const u32 id : by_last) children[next_child[table.parent(id)]++] = id;
    u32 next = 0;
    for (const Sortable& word : words) {
        stack.push_back(word.id);
        while (!stack.empty()) {
            const u32 id = stack.back();
            stack.pop_back();
            position[id] = next++;
            for (u32 k = begins[id + 1]; k > begins[id]; --k) stack.push_back(children[k - 1]);
        }
    }
    return position;
}

}  // namespace textmargin
