// Sparse matrices of texts in single precision, for Python.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>

#include "arrays.hpp"
#include "bind.hpp"
#include "bind_texts.hpp"
#include "local_texts.hpp"

namespace textmargin {
namespace {

using Longs = nb::ndarray<nb::numpy, int64_t, nb::ndim<1>>;
using Ints = nb::ndarray<nb::numpy, int32_t, nb::ndim<1>>;

template <class Index>
void from_csr(SparseTexts* self, Vector<Index> indptr, Vector<Index> indices, Vector<double> data, size_t n_columns) {
    require(indptr.size() > 0 && indices.size() == data.size(), "indptr, indices and data do not fit together");
    std::vector<int64_t> start(indptr.data(), indptr.data() + indptr.size());
    require(start.front() == 0 && std::is_sorted(start.begin(), start.end()) && size_t(start.back()) == indices.size(), "indptr goes back");
    std::vector<Entry> entry(indices.size());
    for (size_t k = 0; k < entry.size(); ++k) {
        require(indices.data()[k] >= 0 && size_t(indices.data()[k]) < n_columns, "an index is beyond the last column");
        entry[k] = {int32_t(indices.data()[k]), float(data.data()[k])};
    }
    new (self) SparseTexts(std::move(start), std::move(entry), n_columns);
}

OutTable times(const SparseTexts& texts, Table W, bool sizes, int n_threads) {
    const Entries& X = texts.view();
    require(W.shape(1) == X.n_columns, "W has other columns");
    auto [out, data] = make<OutTable>(X.n_rows, W.shape(0));
    nb::gil_scoped_release released;
    texts.times(W.data(), W.shape(0), sizes, data, n_threads, check_signals);
    return out;
}

OutTable transposed_times(const SparseTexts& texts, Table A) {
    const Entries& X = texts.view();
    require(A.shape(0) == X.n_rows, "A has other rows");
    auto [out, data] = make<OutTable>(X.n_columns, A.shape(1));
    nb::gil_scoped_release released;
    texts.transposed_times(A.data(), A.shape(1), data, check_signals);
    return out;
}

OutVector squared_lengths(const SparseTexts& texts, int n_threads) {
    const Entries& X = texts.view();
    auto [out, data] = make<OutVector>(X.n_rows);
    nb::gil_scoped_release released;
    texts.each_block(n_threads, check_signals, [&, data = data](size_t first, size_t last) {
        for (size_t i = first; i < last; ++i)
            for (int64_t e = X.start[i]; e < X.start[i + 1]; ++e) data[i] += double(X.entry[e].value) * X.entry[e].value;
    });
    return out;
}

Longs row_counts(const SparseTexts& texts) {
    const Entries& X = texts.view();
    auto [out, data] = make<Longs, int64_t>(X.n_rows);
    for (size_t i = 0; i < X.n_rows; ++i) data[i] = X.start[i + 1] - X.start[i];
    return out;
}

nb::tuple column_sizes(const SparseTexts& texts) {
    const Entries& X = texts.view();
    auto [counts, counts_data] = make<Longs, int64_t>(X.n_columns);
    auto [sizes, sizes_data] = make<OutVector>(X.n_columns);
    {
        nb::gil_scoped_release released;
        texts.each_block(1, check_signals, [&, counts_data = counts_data, sizes_data = sizes_data](size_t first, size_t last) {
            for (int64_t e = X.start[first]; e < X.start[last]; ++e)
                ++counts_data[X.entry[e].column], sizes_data[X.entry[e].column] += std::abs(double(X.entry[e].value));
        });
    }
    return nb::make_tuple(counts, sizes);
}

nb::tuple take(const SparseTexts& texts, Vector<int64_t> rows) {
    const Entries& X = texts.view();
    for (size_t r = 0; r < rows.size(); ++r) require(rows.data()[r] >= 0 && size_t(rows.data()[r]) < X.n_rows, "a row is beyond the last");
    const size_t n_entries = count_entries(X, {rows.data(), rows.data() + rows.size()});
    auto [indptr, indptr_data] = make<Longs, int64_t>(rows.size() + 1);
    auto [indices, indices_data] = make<Ints, int32_t>(n_entries);
    auto [data, data_data] = make<OutVector>(n_entries);
    int64_t size = 0;
    for (size_t r = 0; r < rows.size(); ++r) {
        for (int64_t e = X.start[rows.data()[r]]; e < X.start[rows.data()[r] + 1]; ++e, ++size)
            indices_data[size] = X.entry[e].column, data_data[size] = X.entry[e].value;
        indptr_data[r + 1] = size;
    }
    return nb::make_tuple(indptr, indices, data);
}

}  // namespace

void bind_texts(nb::module_& m) {
    nb::class_<SparseTexts>(m, "SparseTexts")
        .def("__init__", &from_csr<int32_t>)
        .def("__init__", &from_csr<int64_t>)
        .def_static("mapped", [](const std::string& starts, const std::string& entries, size_t n_columns) {
            return new SparseTexts(starts, entries, n_columns);
        })
        .def_prop_ro("n_rows", [](const SparseTexts& texts) { return texts.view().n_rows; })
        .def_prop_ro("n_columns", [](const SparseTexts& texts) { return texts.view().n_columns; })
        .def_prop_ro("n_entries", &SparseTexts::n_entries)
        .def("times", &times)
        .def("transposed_times", &transposed_times)
        .def("squared_lengths", &squared_lengths)
        .def("row_counts", &row_counts)
        .def("column_sizes", &column_sizes)
        .def("take", &take);
}

}  // namespace textmargin
