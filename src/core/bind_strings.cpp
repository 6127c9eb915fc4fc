// String kernels, for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <string>

#include "arrays.hpp"
#include "bind.hpp"
#include "gram.hpp"
#include "levels.hpp"
#include "sparse.hpp"
#include "ssk.hpp"

namespace textmargin {
namespace {

double py_ssk(Vector<int32_t> s, Vector<int32_t> t, int length, double decay) {
    require(length >= 1, "length must be at least 1");
    nb::gil_scoped_release released;
    return ssk(view(s), view(t), length, decay);
}

// The levels this machine can run, widest first.
std::vector<const Level*> levels() { return widest_first(level_avx512, level_avx2, level_baseline); }

const Level& level_of(const std::string& name) {
    for (const Level* level : levels())
        if (name == level->name) return *level;
    throw std::invalid_argument("this machine has no vector level '" + name + "'");
}

// A recipe that owns its tables.
struct OwnRecipe {
    int length;
    std::vector<double> gap, match, weights;

    OwnRecipe(int length, Vector<double> gap, Vector<double> match, Vector<double> weights)
        : length(length), gap(gap.data(), gap.data() + gap.size()), match(match.data(), match.data() + match.size()),
          weights(weights.data(), weights.data() + weights.size()) {
        require(length >= 1 && length <= 256, "length must be between 1 and 256");
        require(gap.size() >= 1 && match.size() == gap.size(), "gap and match must have one value per symbol");
        require(weights.size() == 0 || weights.size() == static_cast<size_t>(length), "there must be one weight per length");
        for (const double g : this->gap) require(g > 0 && g <= 1, "gap weights must be in (0, 1]");
        for (const double m : this->match) require(m >= 0 && m <= 1, "match weights must be in [0, 1]");
    }
    Recipe recipe() const {
        auto same = [](const std::vector<double>& values) {
            return std::all_of(values.begin(), values.end(), [&](double v) { return v == values[0]; });
        };
        return {length, gap.data(), match.data(), weights.empty() ? nullptr : weights.data(), same(gap) && same(match),
                *std::max_element(gap.begin(), gap.end()), gap.size()};
    }
};

Texts texts(const Vector<int32_t>& codes, const Vector<int64_t>& starts, const OwnRecipe& recipe) {
    require(starts.size() >= 1 && starts.data()[0] == 0 && starts.data()[starts.size() - 1] == static_cast<int64_t>(codes.size()),
            "starts must run from 0 to the number of codes");
    require(std::is_sorted(starts.data(), starts.data() + starts.size()), "starts must not decrease");
    const auto n_symbols = static_cast<int32_t>(recipe.gap.size());
    for (const int32_t code : view(codes)) require(code >= 0 && code < n_symbols, "codes must be symbols of the recipe");
    return {view(codes), view(starts)};
}

// Lets Python see to its signals, and tells it how far the work is. Throws to stop the work.
auto watcher(nb::object progress) {
    return [progress](double share) {
        nb::gil_scoped_acquire acquired;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (!progress.is_none()) progress(share);
    };
}

using Exponents = nb::ndarray<nb::numpy, int64_t, nb::ndim<1>>;

std::pair<OutVector, Exponents> give_scaled(const std::vector<Scaled>& values) {
    auto [fractions, fraction] = make<OutVector, double>(values.size());
    auto [exponents, exponent] = make<Exponents, int64_t>(values.size());
    for (size_t i = 0; i < values.size(); ++i) fraction[i] = values[i].fraction, exponent[i] = values[i].exponent;
    return {fractions, exponents};
}

std::vector<Scaled> inverse_roots(const Vector<double>& fractions, const Vector<int64_t>& exponents, size_t n) {
    require(fractions.size() == exponents.size() && (fractions.size() == 0 || fractions.size() == n),
            "there must be one diagonal value per text");
    std::vector<Scaled> roots;
    for (size_t i = 0; i < fractions.size(); ++i) roots.push_back(inverse_root({fractions.data()[i], exponents.data()[i]}));
    return roots;
}

nb::tuple py_diagonal(const OwnRecipe& recipe, Vector<int32_t> codes, Vector<int64_t> starts, const std::string& level,
                      bool double_precision, int n_threads, nb::object progress) {
    const Level& of_name = level_of(level);
    const Texts X = texts(codes, starts, recipe);
    std::vector<Scaled> diagonal;
    {
        auto watch = watcher(progress);
        nb::gil_scoped_release released;
        diagonal = dense_diagonal(of_name, double_precision, recipe.recipe(), X, n_threads, watch);
    }
    auto [fractions, exponents] = give_scaled(diagonal);
    return nb::make_tuple(fractions, exponents);
}

OutTable py_gram(const OwnRecipe& recipe, Vector<int32_t> x_codes, Vector<int64_t> x_starts, std::optional<Vector<int32_t>> y_codes,
                 std::optional<Vector<int64_t>> y_starts, Vector<double> x_fractions, Vector<int64_t> x_exponents,
                 Vector<double> y_fractions, Vector<int64_t> y_exponents, double factor, const std::string& level,
                 bool double_precision, bool sparse, int n_threads, nb::object progress) {
    const Level& of_name = level_of(level);
    const bool symmetric = !y_codes || !y_starts;
    const Texts X = texts(x_codes, x_starts, recipe), Y = symmetric ? X : texts(*y_codes, *y_starts, recipe);
    auto [K, data] = make<OutTable, double>(X.count(), Y.count());
    const auto rows = inverse_roots(x_fractions, x_exponents, X.count());
    const auto columns = inverse_roots(y_fractions, y_exponents, Y.count());
    require(rows.empty() == columns.empty(), "rows and columns must both have diagonals, or neither");
    {
        auto watch = watcher(progress);
        nb::gil_scoped_release released;
        const Output out{data, Y.count(), symmetric, factor, rows, columns};
        if (sparse)
            shortened_gram(double_precision ? of_name.twice : of_name.single, recipe.recipe(), X, Y, out, recipe.gap.size(), n_threads, watch);
        else
            dense_gram(of_name, double_precision, recipe.recipe(), X, Y, out, n_threads, watch);
    }
    return K;
}

}  // namespace

void bind_strings(nb::module_& m) {
    m.def("ssk", &py_ssk, nb::arg("s"), nb::arg("t"), nb::arg("length"), nb::arg("decay"),
          "The subsequence kernel K_n(s, t) of two code arrays by the plain recurrence.");
    m.def("levels", [] {
        std::vector<std::string> names;
        for (const Level* level : levels()) names.emplace_back(level->name);
        return names;
    }, "The vector levels this machine can run, widest first.");
    nb::class_<OwnRecipe>(m, "Recipe")
        .def(nb::init<int, Vector<double>, Vector<double>, Vector<double>>(), nb::arg("length"), nb::arg("gap"), nb::arg("match"),
             nb::arg("weights"));
    m.def("scratch_bytes", [](const OwnRecipe& recipe, const std::string& level, bool double_precision, size_t n_rows) {
        const Level& of_name = level_of(level);
        return (double_precision ? of_name.twice : of_name.single).scratch_bytes(recipe.recipe(), n_rows);
    });
    m.def("subsequence_diagonal", &py_diagonal, nb::arg("recipe"), nb::arg("codes"), nb::arg("starts"), nb::arg("level"),
          nb::arg("double_precision"), nb::arg("n_threads"), nb::arg("progress").none());
    m.def("subsequence_gram", &py_gram, nb::arg("recipe"), nb::arg("x_codes"), nb::arg("x_starts"), nb::arg("y_codes").none(),
          nb::arg("y_starts").none(), nb::arg("x_fractions"), nb::arg("x_exponents"), nb::arg("y_fractions"), nb::arg("y_exponents"),
          nb::arg("factor"), nb::arg("level"), nb::arg("double_precision"), nb::arg("sparse"), nb::arg("n_threads"),
          nb::arg("progress").none());
    m.def("share_of_common_cells", [](const OwnRecipe& recipe, Vector<int32_t> x_codes, Vector<int64_t> x_starts, Vector<int32_t> y_codes,
                           Vector<int64_t> y_starts) {
        return share_of_common_cells(texts(x_codes, x_starts, recipe), texts(y_codes, y_starts, recipe));
    }, "The share of cells whose row and column symbols both texts of a pair have, from a sample of pairs.");
}

}  // namespace textmargin
