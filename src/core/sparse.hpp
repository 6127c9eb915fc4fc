// Gram matrices over large alphabets, such as words: of each pair of texts only the symbols that both have are compared.
//
// An inverted index finds them. What stood between them becomes a cost (`Pair::after`), and the shortened pairs, sorted by size, fill
// the lanes of the same engine as whole texts do. The values are the same; the work is that of the cells that are left.
#pragma once

#include <array>
#include <bit>
#include <random>

#include "gram.hpp"

namespace textmargin {

// Per text its distinct symbols and where each stands; and per symbol the texts that have it.
class SymbolIndex {
  public:
    struct Entry {  // a symbol in a text
        int32_t symbol;
        uint32_t begin, end;  // its places: positions_[begin … end)
        uint32_t first;       // the first of them, to save a look
        uint32_t count() const { return end - begin; }
    };
    struct Posting {  // a text with a symbol
        uint32_t text, entry;
    };

    SymbolIndex(const Texts& texts, size_t n_symbols, bool inverted) : starts_{0} {
        std::vector<std::pair<int32_t, uint32_t>> sorted;
        for (size_t i = 0; i < texts.count(); ++i) {
            sorted.clear();
            for (size_t a = 0; a < texts.size(i); ++a) sorted.emplace_back(texts.at(i)[a], static_cast<uint32_t>(a));
            std::sort(sorted.begin(), sorted.end());
            for (const auto& [symbol, place] : sorted) {
                const auto here = static_cast<uint32_t>(positions_.size());
                if (entries_.size() == starts_.back() || entries_.back().symbol != symbol) entries_.push_back({symbol, here, here, place});
                positions_.push_back(place);
                ++entries_.back().end;
            }
            starts_.push_back(entries_.size());
        }
        if (inverted) invert(n_symbols);
    }
    std::span<const Entry> entries(size_t text) const { return {entries_.data() + starts_[text], starts_[text + 1] - starts_[text]}; }
    const Entry& entry(size_t k) const { return entries_[k]; }
    std::span<const uint32_t> places(const Entry& entry) const { return {positions_.data() + entry.begin, entry.end - entry.begin}; }
    std::span<const Posting> postings(int32_t symbol) const {
        return {postings_.data() + symbol_starts_[symbol], symbol_starts_[symbol + 1] - symbol_starts_[symbol]};
    }

  private:
    void invert(size_t n_symbols) {
        symbol_starts_.assign(n_symbols + 1, 0);
        for (const Entry& entry : entries_) ++symbol_starts_[entry.symbol + 1];
        std::partial_sum(symbol_starts_.begin(), symbol_starts_.end(), symbol_starts_.begin());
        postings_.resize(entries_.size());
        auto next = symbol_starts_;
        for (size_t text = 0; text + 1 < starts_.size(); ++text)
            for (size_t k = starts_[text]; k < starts_[text + 1]; ++k)
                postings_[next[entries_[k].symbol]++] = {static_cast<uint32_t>(text), static_cast<uint32_t>(k)};
    }
    std::vector<size_t> starts_, symbol_starts_;
    std::vector<Entry> entries_;
    std::vector<uint32_t> positions_;
    std::vector<Posting> postings_;
};

// A text with some of its symbols taken out.
struct Shortened {
    std::vector<int32_t> codes;
    std::vector<double> after;
};

// Takes symbols out of texts; the cost of k equal gaps is looked up, not computed.
class Shortener {
  public:
    Shortener(const Recipe& recipe, size_t longest) : recipe_(recipe), kept_(longest / 64 + 1) {
        for (size_t k = 0; recipe.uniform && k <= longest; ++k) powers_.push_back(k ? powers_.back() * recipe.gap[0] : 1.0);
    }
    void keep(const SymbolIndex& index, const SymbolIndex::Entry& entry) {
        keep(entry.first);
        if (entry.count() > 1)
            for (const uint32_t place : index.places(entry).subspan(1)) keep(place);
    }
    // The n symbols of a text that were kept, which are then forgotten.
    void shorten(const int32_t* text, size_t size, size_t n, Shortened& out) {
        out.codes.resize(n);
        out.after.resize(n);
        size_t k = 0, last = 0;
        for (size_t word = 0; word <= size / 64; ++word) {
            for (uint64_t bits = kept_[word]; bits; bits &= bits - 1) {
                const size_t place = word * 64 + std::countr_zero(bits);
                if (k > 0) out.after[k - 1] = cost(text, last + 1, place);
                out.codes[k++] = text[place];
                last = place;
            }
            kept_[word] = 0;
        }
        out.after[n - 1] = 1.0;
    }

  private:
    void keep(uint32_t place) { kept_[place / 64] |= uint64_t{1} << place % 64; }
    double cost(const int32_t* text, size_t from, size_t to) const {
        if (recipe_.uniform) return powers_[to - from];
        double product = 1;
        for (size_t a = from; a < to; ++a) product *= recipe_.gap[text[a]];
        return product;
    }
    const Recipe& recipe_;
    std::vector<double> powers_;
    std::vector<uint64_t> kept_;
};

// Some rows of the Gram matrix, on one thread.
class SparseRowsOfGram {
  public:
    SparseRowsOfGram(const Engine& engine, const Recipe& recipe, const Texts& X, const Texts& Y, const SymbolIndex& x_index,
                     const SymbolIndex& y_index, const Output& out, const bool* stop, size_t longest)
        : engine_(engine), recipe_(recipe), X_(X), Y_(Y), x_index_(x_index), y_index_(y_index), out_(out), stop_(stop),
          lanes_(engine, recipe), shortener_(recipe, longest), common_(kBlock), first_(recipe.first_weight()),
          least_(recipe.weights ? 2 : recipe.length) {}

    void run(size_t from, size_t to) {
        cursors_.resize(to - from);
        for (size_t i = from; i < to; ++i) cursors_[i - from].assign(x_index_.entries(i).size(), 0);
        const size_t end = out_.symmetric ? to : Y_.count();
        for (size_t block = 0; block < end; block += kBlock)  // outside, so that its texts stay in the cache
            for (size_t i = out_.symmetric ? std::max(from, block) : from; i < to && !__atomic_load_n(stop_, __ATOMIC_RELAXED); ++i)
                row(i, cursors_[i - from], block, std::min(block + kBlock, out_.symmetric ? i + 1 : end));
    }

  private:
    static constexpr size_t kBlock = 512;  // texts compared with one row at a time
    static constexpr size_t kClasses = 128;

    struct Common {  // what a text of the block shares with the row's text
        std::vector<std::pair<const SymbolIndex::Entry*, const SymbolIndex::Entry*>> entries;
        size_t n_s = 0, n_t = 0, most = 0;  // symbols kept of either; of a common subsequence at most
        double singles = 0;                 // its part of K_1
    };

    // Row i against the texts of a block; the cursors tell how far the postings of its symbols have been read.
    void row(size_t i, std::vector<size_t>& cursors, size_t block, size_t block_end) {
        const auto symbols = x_index_.entries(i);
        for (size_t k = 0; k < symbols.size(); ++k) {
            const auto postings = y_index_.postings(symbols[k].symbol);
            size_t& at = cursors[k];
            for (; at < postings.size() && postings[at].text < block_end; ++at) {
                Common& common = common_[postings[at].text - block];
                const auto& entry = y_index_.entry(postings[at].entry);
                common.entries.emplace_back(&symbols[k], &entry);
                common.n_s += symbols[k].count();
                common.n_t += entry.count();
                common.most += std::min(symbols[k].count(), entry.count());
                if (first_ != 0) common.singles += first_ * recipe_.match[entry.symbol] * symbols[k].count() * entry.count();
            }
        }
        sort_by_size(i, block, block_end);
        for (size_t k = 0; k < order_.size(); k += engine_.lanes)
            compare(i, block, std::span(order_).subspan(k, std::min<size_t>(engine_.lanes, order_.size() - k)));
        for (size_t j = block; j < block_end; ++j) {
            common_[j - block].entries.clear();
            common_[j - block].n_s = common_[j - block].n_t = common_[j - block].most = 0;
            common_[j - block].singles = 0;
        }
    }

    // Into order_ the texts that can have a common subsequence, by the number of cells left, so that lanes are alike.
    void sort_by_size(size_t i, size_t block, size_t block_end) {
        std::array<uint32_t, kClasses + 1> starts{};
        for (size_t k = 0; k < block_end - block; ++k) {
            const Common& common = common_[k];
            if (can_match(common))
                ++starts[size_class(common.n_s * common.n_t) + 1];
            else if (common.singles != 0)
                out_.put(i, block + k, {common.singles, 0});
        }
        std::partial_sum(starts.begin(), starts.end(), starts.begin());
        order_.resize(starts.back());
        for (size_t k = 0; k < block_end - block; ++k)
            if (can_match(common_[k])) order_[starts[size_class(common_[k].n_s * common_[k].n_t)]++] = k;
    }

    bool can_match(const Common& common) const {
        return recipe_.length > 1 && common.most >= least_;
    }

    // Row i against as many texts of the block as there are lanes.
    void compare(size_t i, size_t block, std::span<const uint32_t> chosen) {
        size_t n_rows = 0;
        for (size_t lane = 0; lane < static_cast<size_t>(engine_.lanes); ++lane) {
            if (lane >= chosen.size()) {
                lanes_.set(lane, Pair{});
                continue;
            }
            const size_t j = block + chosen[lane];
            const Common& common = common_[chosen[lane]];
            auto& [s, t] = shortened_[lane];
            for (const auto& [x, y] : common.entries) shortener_.keep(x_index_, *x);
            shortener_.shorten(X_.at(i), X_.size(i), common.n_s, s);
            for (const auto& [x, y] : common.entries) shortener_.keep(y_index_, *y);
            shortener_.shorten(Y_.at(j), Y_.size(j), common.n_t, t);
            const Pair pair{s.codes.data(), common.n_s, t.codes.data(), common.n_t, s.after.data(), t.after.data()};
            lanes_.set(lane, common.n_s <= common.n_t ? pair : swapped(pair));
            n_rows = std::max(n_rows, std::min(common.n_s, common.n_t));
        }
        if (!lanes_.run(n_rows, stop_)) return;
        for (size_t lane = 0; lane < chosen.size(); ++lane)
            out_.put(i, block + chosen[lane], lanes_.value(lane, common_[chosen[lane]].singles));
    }

    // Sizes within a fifth of each other share a class.
    static size_t size_class(size_t n) {
        const int octave = std::bit_width(n);
        return octave <= 3 ? n : std::min<size_t>(4 * (octave - 2) + ((n >> (octave - 3)) & 3), kClasses - 1);
    }

    const Engine& engine_;
    const Recipe& recipe_;
    const Texts &X_, &Y_;
    const SymbolIndex &x_index_, &y_index_;
    const Output& out_;
    const bool* stop_;
    Lanes lanes_;
    Shortener shortener_;
    std::vector<Common> common_;
    std::vector<std::vector<size_t>> cursors_;
    std::vector<uint32_t> order_;
    std::array<std::pair<Shortened, Shortened>, Lanes::kMost> shortened_;
    double first_;
    size_t least_;
};

// The share of cells that are left when texts are shortened, from a sample of pairs: what the choice of the way goes by.
inline double share_of_common_cells(const Texts& X, const Texts& Y) {
    if (X.count() == 0 || Y.count() == 0) return 1;
    std::mt19937 random(0);
    double left = 0, all = 0;
    for (int draw = 0; draw < 200; ++draw) {
        const size_t i = random() % X.count(), j = random() % Y.count();
        const std::span s(X.at(i), std::min(X.size(i), size_t{2000})), t(Y.at(j), std::min(Y.size(j), size_t{2000}));
        if (X.at(i) == Y.at(j)) continue;  // a text with itself: everything is left
        std::vector<int32_t> in_s(s.begin(), s.end()), in_t(t.begin(), t.end());
        std::sort(in_s.begin(), in_s.end());
        std::sort(in_t.begin(), in_t.end());
        auto shared = [](std::span<const int32_t> text, const std::vector<int32_t>& other) {
            return std::count_if(text.begin(), text.end(), [&](int32_t x) { return std::binary_search(other.begin(), other.end(), x); });
        };
        left += static_cast<double>(shared(s, in_t)) * shared(t, in_s);
        all += static_cast<double>(s.size()) * t.size();
    }
    return all > 0 ? left / all : 1;
}

// As dense_gram, with equal values. `out.K` holds zeros.
template <class Watch>
void shortened_gram(const Engine& engine, const Recipe& recipe, const Texts& X, const Texts& Y, const Output& out, size_t n_symbols,
                    int n_threads, const Watch& watch) {
    const size_t n_rows = std::clamp<size_t>(X.count() / (16 * n_threads), 1, 64);  // of one unit of work
    const SymbolIndex y_index(Y, n_symbols, true), own(out.symmetric ? Texts{} : X, n_symbols, false);
    size_t longest = 0;
    for (size_t i = 0; i < X.count(); ++i) longest = std::max(longest, X.size(i));
    for (size_t j = 0; j < Y.count(); ++j) longest = std::max(longest, Y.size(j));
    const size_t n_units = (X.count() + n_rows - 1) / n_rows;
    Progress progress;
    auto make_worker = [&] {
        return [&, rows = SparseRowsOfGram(engine, recipe, X, Y, out.symmetric ? y_index : own, y_index, out, &progress.stop,
                                           longest)](size_t unit) mutable {
            const size_t from = (n_units - 1 - unit) * n_rows;  // the longest rows of a triangle first
            rows.run(from, std::min(from + n_rows, X.count()));
            ++progress.done;
        };
    };
    share_work(n_units, n_threads, progress, make_worker, [&] { watch(progress.done / std::max<double>(n_units, 1)); });
}

}  // namespace textmargin
