// Pairs to Gram matrix: texts of similar length are grouped, a group against a group fills the lanes of an engine, and threads
// share the groups.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>
#include <span>
#include <vector>

#include "engine.hpp"
#include "work.hpp"

namespace textmargin {

struct Texts {
    std::span<const int32_t> codes;
    std::span<const int64_t> starts;  // one more than there are texts

    size_t count() const { return starts.empty() ? 0 : starts.size() - 1; }
    const int32_t* at(size_t i) const { return codes.data() + starts[i]; }
    size_t size(size_t i) const { return starts[i + 1] - starts[i]; }
};

// 2^exponent, at most infinite. By its bits where they can hold it, which is much faster than ldexp.
inline double power_of_two(int64_t exponent) {
    if (exponent >= -1022 && exponent <= 1023) return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
    return std::ldexp(1.0, static_cast<int>(std::clamp<int64_t>(exponent, -5000, 5000)));
}

// A non-negative number that may be beyond the range of double: fraction · 2^exponent.
struct Scaled {
    double fraction = 0;
    int64_t exponent = 0;

    Scaled() = default;
    Scaled(double value, int64_t shift) {
        int own;
        fraction = std::frexp(value, &own);
        exponent = fraction == 0 ? 0 : own + shift;
    }
};

// K_1: the matches of two texts, from their symbols' counts.
class Singles {
  public:
    Singles(const Texts& texts, const Recipe& recipe) : recipe_(recipe), starts_{0} {
        std::vector<int32_t> sorted;
        for (size_t i = 0; i < texts.count(); ++i) {
            sorted.assign(texts.at(i), texts.at(i) + texts.size(i));
            std::sort(sorted.begin(), sorted.end());
            for (auto at = sorted.begin(); at != sorted.end();) {
                const auto end = std::upper_bound(at, sorted.end(), *at);
                counts_.emplace_back(*at, static_cast<double>(end - at));
                at = end;
            }
            starts_.push_back(counts_.size());
        }
    }
    double product(size_t i, const Singles& other, size_t j) const {
        double sum = 0;
        auto a = counts_.begin() + starts_[i], b = other.counts_.begin() + other.starts_[j];
        const auto a_end = counts_.begin() + starts_[i + 1], b_end = other.counts_.begin() + other.starts_[j + 1];
        while (a != a_end && b != b_end) {
            if (a->first == b->first) sum += recipe_.match[a->first] * a->second * b->second;
            const bool step_a = a->first <= b->first, step_b = b->first <= a->first;
            a += step_a, b += step_b;
        }
        return sum;
    }

  private:
    const Recipe& recipe_;
    std::vector<size_t> starts_;
    std::vector<std::pair<int32_t, double>> counts_;
};

// 1/√K of a text with itself, in the same form; 0 where K is 0, so that such a text is like no other.
inline Scaled inverse_root(Scaled K) {
    if (K.fraction == 0) return {};
    const bool odd = K.exponent % 2 != 0;
    return {1 / std::sqrt(odd ? 2 * K.fraction : K.fraction), -(K.exponent - odd) / 2};
}

// Where values go: K(i, j) times a factor for its row, for its column, and for all.
struct Output {
    double* K;
    size_t n_columns;
    bool symmetric;
    double factor;
    std::span<const Scaled> row, column;  // empty: 1

    void put(size_t i, size_t j, Scaled value) const {
        double fraction = factor * value.fraction;
        int64_t exponent = value.exponent;
        if (!row.empty()) {
            fraction *= row[i].fraction * column[j].fraction;
            exponent += row[i].exponent + column[j].exponent;
        }
        double number = fraction * power_of_two(exponent);
        const bool same = symmetric && i == j && number > 0;
        if (!row.empty() && (number > 1 || same) && number < 1.001) number = 1;  // but for rounding it is
        K[i * n_columns + j] = number;
        if (symmetric) K[j * n_columns + i] = number;
    }
};

// Texts sorted by length, in groups of one size. Where their number is not a multiple of `multiple`, the first groups, where texts
// are shortest, have gaps.
class Groups {
  public:
    Groups(const Texts& texts, size_t size, size_t multiple) : texts_(texts), size_(size), order_(texts.count()) {
        std::iota(order_.begin(), order_.end(), size_t{0});
        std::stable_sort(order_.begin(), order_.end(), [&](size_t a, size_t b) { return texts.size(a) < texts.size(b); });
        order_.insert(order_.begin(), (multiple - order_.size() % multiple) % multiple, kNone);
    }
    static constexpr size_t kNone = ~size_t{0};
    size_t count() const { return order_.size() / size_; }
    size_t text(size_t group, size_t k) const { return order_[group * size_ + k]; }
    size_t longest(size_t group) const {
        const size_t last = text(group, size_ - 1);
        return last == kNone ? 0 : texts_.size(last);
    }

  private:
    const Texts& texts_;
    size_t size_;
    std::vector<size_t> order_;
};

inline Pair swapped(const Pair& pair) { return {pair.t, pair.n_t, pair.s, pair.n_s, pair.t_after, pair.s_after}; }

// The same order of two texts whichever is named first: rows, which need memory, are the shorter text. Of two that are as long, what the
// recurrence sees is where they match; the order is that in which the first match without a mirror image is above the diagonal, and where
// each has one, either order computes the same. Codes themselves may be others in other company.
inline Pair in_order(const Pair& pair) {
    if (pair.n_s != pair.n_t) return pair.n_s < pair.n_t ? pair : swapped(pair);
    if (std::equal(pair.s, pair.s + pair.n_s, pair.t)) return pair;
    for (size_t a = 0; a < pair.n_s; ++a)
        for (size_t j = a + 1; j < pair.n_t; ++j) {
            const bool above = pair.s[a] == pair.t[j], below = pair.s[j] == pair.t[a];
            if (above != below) return above ? pair : swapped(pair);
        }
    return pair;
}

// Whether a value in single precision may have lost what it consists of to the least numbers that single precision has. States are no
// smaller than what they come to in the end, but for the weights of lengths, so that a value well above those numbers is sound.
class Doubt {
  public:
    explicit Doubt(const Recipe& recipe) : length_(recipe.length) {
        for (int i = 1; recipe.weights && i < recipe.length; ++i) limit_ = std::max(limit_, kLeast * recipe.weights[i]);
        double gap = recipe.gap[0], match = recipe.match[0];
        for (size_t x = 1; x < (recipe.uniform ? 1 : recipe.n_symbols); ++x)
            gap = std::min(gap, recipe.gap[x]), match = std::min(match, recipe.match[x]);
        log_gap_ = std::log2(gap), log_match_ = std::log2(match), log_limit_ = std::log2(limit_);
    }
    // Of a value as the lanes have it, 2^(−exponent) of it.
    bool about(double value, int exponent, const Pair& pair) const {
        if (value >= limit_ || length_ == 1 || std::min(pair.n_s, pair.n_t) < 2) return false;
        const double n_gaps = static_cast<double>(pair.n_s) + static_cast<double>(pair.n_t);
        return n_gaps * log_gap_ + length_ * log_match_ - exponent < log_limit_;
    }

  private:
    static constexpr double kLeast = 0x1p-90;
    int length_;
    double limit_ = kLeast, log_gap_ = 0, log_match_ = 0, log_limit_ = 0;
};

// One thread's lanes: pairs in, values out, with the memory that an engine needs.
class Lanes {
  public:
    static constexpr int kMost = 16;
    Lanes(const Engine& engine, const Recipe& recipe) : engine_(engine), recipe_(recipe) {}

    void set(int lane, const Pair& pair) { pairs_[lane] = pair; }
    static Pair pair(const Texts& X, size_t i, const Texts& Y, size_t j) {
        const bool both = i != Groups::kNone && j != Groups::kNone;
        return both ? Pair{X.at(i), X.size(i), Y.at(j), Y.size(j), nullptr, nullptr} : Pair{};
    }
    // Runs all lanes; no text s is longer than n_rows.
    bool run(size_t n_rows, const bool* stop) {
        if (recipe_.length == 1) {
            std::fill_n(K_, engine_.lanes, 0.0);
            return true;
        }
        const size_t bytes = engine_.scratch_bytes(recipe_, n_rows);
        if (bytes > bytes_) {
            memory_.reset();
            memory_.reset(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
            if (!memory_) throw std::bad_alloc();
            bytes_ = bytes;
        }
        return engine_.compare(pairs_, recipe_, memory_.get(), stop, K_, &exponent_);
    }
    // What the lanes found, and the part of K that the recurrence leaves out.
    Scaled value(int lane, double singles) const { return {with_singles(lane, singles), exponent_}; }
    bool is_doubtful(int lane, double singles, const Doubt& doubt) const {
        return pairs_[lane].n_s && doubt.about(with_singles(lane, singles), exponent_, pairs_[lane]);
    }
    const Pair& at(int lane) const { return pairs_[lane]; }

  private:
    double with_singles(int lane, double singles) const {
        return K_[lane] + (singles != 0 ? singles * power_of_two(-exponent_) : 0.0);
    }
    struct Free {
        void operator()(void* p) const { std::free(p); }
    };
    const Engine& engine_;
    const Recipe& recipe_;
    Pair pairs_[kMost];
    double K_[kMost];
    int exponent_ = 0;
    std::unique_ptr<void, Free> memory_;
    size_t bytes_ = 0;
};

// One thread's lanes in the precision asked for, and others in double precision for what that has not the range of.
class CarefulLanes {
  public:
    CarefulLanes(const Level& level, bool twice, const Recipe& recipe)
        : n_lanes_((twice ? level.twice : level.single).lanes), n_careful_(level.twice.lanes), twice_(twice),
          lanes_(twice ? level.twice : level.single, recipe), careful_(level.twice, recipe), doubt_(recipe) {}

    void set(int lane, const Pair& pair, double singles) { lanes_.set(lane, in_order(pair)), singles_[lane] = singles; }
    bool run(size_t n_rows, const bool* stop) {
        if (!lanes_.run(n_rows, stop)) return false;
        int again[Lanes::kMost], n = 0;
        for (int lane = 0; lane < n_lanes_; ++lane) {
            values_[lane] = lanes_.value(lane, singles_[lane]);
            if (!twice_ && lanes_.is_doubtful(lane, singles_[lane], doubt_)) again[n++] = lane;
        }
        for (int first = 0; first < n; first += n_careful_) {
            for (int k = 0; k < n_careful_; ++k) careful_.set(k, first + k < n ? lanes_.at(again[first + k]) : Pair{});
            if (!careful_.run(n_rows, stop)) return false;
            for (int k = 0; k < n_careful_ && first + k < n; ++k)
                values_[again[first + k]] = careful_.value(k, singles_[again[first + k]]);
        }
        return true;
    }
    const Scaled& value(int lane) const { return values_[lane]; }

  private:
    int n_lanes_, n_careful_;
    bool twice_;
    Lanes lanes_, careful_;
    Doubt doubt_;
    double singles_[Lanes::kMost] = {};
    Scaled values_[Lanes::kMost];
};

// All pairs of X and Y; where `out.symmetric`, Y is X and half of them are enough.
template <class Watch>
void dense_gram(const Level& level, bool twice, const Recipe& recipe, const Texts& X, const Texts& Y, const Output& out, int n_threads,
                const Watch& watch) {
    const Engine& engine = twice ? level.twice : level.single;
    // 16 lanes are 4 × 4 texts, 8 are 2 × 4: the more even, the fewer texts need to be alike in length.
    size_t n_down = 1;
    while (4 * n_down * n_down <= static_cast<size_t>(engine.lanes)) n_down *= 2;
    const size_t n_across = engine.lanes / n_down, folds = n_across / n_down;
    const Groups rows(X, n_down, out.symmetric ? n_across : n_down), columns(Y, n_across, n_across);

    // A unit is a row group against a column group; in the symmetric case row groups go up to the texts of the column group.
    const size_t n_units = out.symmetric ? folds * (columns.count() * (columns.count() + 1) / 2) : rows.count() * columns.count();
    auto place = [&](size_t unit) -> std::pair<size_t, size_t> {
        unit = n_units - 1 - unit;  // the longest first, so that no thread is left with them at the end
        if (!out.symmetric) return {unit % rows.count(), unit / rows.count()};
        const size_t square = unit / folds;
        size_t across = (std::sqrt(8.0 * square + 1) - 1) / 2;
        while (across * (across + 1) / 2 > square) --across;
        while ((across + 1) * (across + 2) / 2 <= square) ++across;
        return {(square - across * (across + 1) / 2) * folds + unit % folds, across};
    };
    const double first = recipe.first_weight();
    const Texts none;
    const Singles x_singles(first ? X : none, recipe), y_singles(first && !out.symmetric ? Y : none, recipe);
    const Singles& others = out.symmetric ? x_singles : y_singles;

    double total = 0, above = 0;
    for (size_t across = 0, down = 0; across < columns.count(); ++across) {
        for (; down < (out.symmetric ? folds * (across + 1) : rows.count()); ++down) above += rows.longest(down);
        total += above * columns.longest(across);
    }

    Progress progress;
    auto make_worker = [&] {
        return [&, lanes = CarefulLanes(level, twice, recipe)](size_t unit) mutable {
            const auto [down, across] = place(unit);
            const size_t n_s = rows.longest(down), n_t = columns.longest(across);
            for (size_t lane = 0; lane < n_down * n_across; ++lane) {
                const size_t i = rows.text(down, lane / n_across), j = columns.text(across, lane % n_across);
                const bool both = i != Groups::kNone && j != Groups::kNone;
                lanes.set(lane, Lanes::pair(X, i, Y, j), first && both ? first * x_singles.product(i, others, j) : 0.0);
            }
            if (!lanes.run(std::min(n_s, n_t), &progress.stop)) return;
            for (size_t lane = 0; lane < n_down * n_across; ++lane) {
                const size_t k = lane / n_across, l = lane % n_across;
                if (out.symmetric && down * n_down + k > across * n_across + l) continue;  // its mirror image is put
                const size_t i = rows.text(down, k), j = columns.text(across, l);
                if (i != Groups::kNone && j != Groups::kNone)
                    out.put(i, j, lanes.value(lane));
            }
            progress.done += n_s * n_t;
        };
    };
    share_work(n_units, n_threads, progress, make_worker, [&] { watch(progress.done / std::max(total, 1.0)); });
}

// K of each text with itself.
template <class Watch>
std::vector<Scaled> dense_diagonal(const Level& level, bool twice, const Recipe& recipe, const Texts& X, int n_threads, const Watch& watch) {
    const size_t n_lanes = (twice ? level.twice : level.single).lanes;
    const Groups groups(X, n_lanes, n_lanes);
    std::vector<Scaled> diagonal(X.count());
    const double first = recipe.first_weight();
    const Singles singles(first ? X : Texts{}, recipe);
    double total = 0;
    for (size_t g = 0; g < groups.count(); ++g) total += std::pow(groups.longest(g), 2);
    Progress progress;
    auto make_worker = [&] {
        return [&, lanes = CarefulLanes(level, twice, recipe)](size_t unit) mutable {
            const size_t group = groups.count() - 1 - unit, longest = groups.longest(group);
            for (size_t lane = 0; lane < n_lanes; ++lane) {
                const size_t i = groups.text(group, lane);
                const double alone = first && i != Groups::kNone ? first * singles.product(i, singles, i) : 0.0;
                lanes.set(lane, Lanes::pair(X, i, X, i), alone);
            }
            if (!lanes.run(longest, &progress.stop)) return;
            for (size_t lane = 0; lane < n_lanes; ++lane) {
                const size_t i = groups.text(group, lane);
                if (i != Groups::kNone) diagonal[i] = lanes.value(lane);
            }
            progress.done += longest * longest;
        };
    };
    share_work(groups.count(), n_threads, progress, make_worker, [&] { watch(progress.done / std::max(total, 1.0)); });
    return diagonal;
}

}  // namespace textmargin
