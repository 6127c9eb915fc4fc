// The SVMs' inner loops, for Python.
#include <cstdint>

#include "arrays.hpp"
#include "bind.hpp"
#include "newton.hpp"
#include "products.hpp"
#include "search.hpp"

namespace textmargin {
namespace {

template <class Index>
Csr<Index> csr(const Vector<Index>& indptr, const Vector<Index>& indices, const Vector<double>& data, size_t n_columns) {
    require(indptr.size() > 0 && indices.size() == data.size(), "indptr, indices and data do not fit together");
    return {indptr.data(), indices.data(), data.data(), n_columns};
}

// `make_rows` gathers the active rows; it runs, like all the work, without the GIL.
template <class MakeRows>
nb::tuple direction(MakeRows make_rows, size_t n_rows, double penalty, Vector<double> costs, Vector<double> errors, Table CZ,
                    Table M_inverse, Vector<double> gradient_extra, Vector<double> w, double precision, int max_steps) {
    const size_t k = CZ.shape(1);
    require(costs.size() == n_rows && errors.size() == n_rows && CZ.shape(0) == n_rows && M_inverse.shape(0) == k &&
                M_inverse.shape(1) == k && gradient_extra.size() == k,
            "the parts of the quadratic do not fit together");
    auto [p, p_data] = make<OutVector>(w.size());
    Direction found;
    {
        nb::gil_scoped_release released;
        const Quadratic Q{penalty, view(costs), view(errors), CZ.data(), M_inverse.data(), gradient_extra.data(), k};
        found = cg_direction(make_rows(), Q, view(w), precision, max_steps, {p_data, w.size()});
    }
    return nb::make_tuple(p, give_array(found.extra), found.decrement);
}

template <class Index>
nb::tuple py_cg_sparse(Vector<Index> indptr, Vector<Index> indices, Vector<double> data, Vector<int64_t> rows,
                       double penalty, Vector<double> costs, Vector<double> errors, Table CZ, Table M_inverse,
                       Vector<double> gradient_extra, Vector<double> w, double precision, int max_steps) {
    const auto X = csr(indptr, indices, data, w.size());
    auto make_rows = [&] { return SparseRows(X, view(rows)); };
    return direction(make_rows, rows.size(), penalty, costs, errors, CZ, M_inverse, gradient_extra, w, precision, max_steps);
}

nb::tuple py_cg_dense(Table X, Vector<int64_t> rows, double penalty, Vector<double> costs, Vector<double> errors, Table CZ,
                      Table M_inverse, Vector<double> gradient_extra, Vector<double> w, double precision, int max_steps) {
    require(X.shape(1) == w.size(), "X and w do not have the same number of columns");
    auto make_rows = [&] { return DenseRows(X.data(), X.shape(1), view(rows)); };
    return direction(make_rows, rows.size(), penalty, costs, errors, CZ, M_inverse, gradient_extra, w, precision, max_steps);
}

nb::tuple py_search_plane(Vector<double> shortfall, Vector<double> y, Vector<double> costs, Vector<double> direction,
                          Table Z, Vector<double> g, Table A) {
    const size_t n = shortfall.size(), k = g.size();
    require(y.size() == n && costs.size() == n && Z.shape(0) == n && (direction.size() == 0 || direction.size() == n) &&
                k == Z.shape(1) + (direction.size() > 0) && A.shape(0) == k && A.shape(1) == k,
            "the parts of the plane do not fit together");
    auto [moved, data] = make<OutVector>(n);
    std::copy_n(shortfall.data(), n, data);
    std::vector<double> theta;
    bool stayed = false;
    {
        nb::gil_scoped_release released;
        theta = search_plane({data, n}, view(y), view(costs), view(direction), Z.data(), Z.shape(1), g.data(), A.data(),
                             stayed);
    }
    return nb::make_tuple(give_array(theta), moved, stayed);
}

template <class Index>
OutVector py_sparse_times(Vector<Index> indptr, Vector<Index> indices, Vector<double> data, Vector<double> v) {
    const auto X = csr(indptr, indices, data, v.size());
    auto [out, out_data] = make<OutVector>(indptr.size() - 1);
    nb::gil_scoped_release released;
    sparse_times(X, indptr.size() - 1, v.data(), out_data);
    return out;
}

template <class Index>
OutTable py_sparse_gram(Vector<Index> indptr, Vector<Index> indices, Vector<double> data, size_t n_columns,
                        Vector<int64_t> rows) {
    const auto X = csr(indptr, indices, data, n_columns);
    auto [K, K_data] = make<OutTable>(rows.size(), rows.size());
    nb::gil_scoped_release released;
    sparse_gram(X, view(rows), K_data);
    return K;
}

}  // namespace

void bind_primal(nb::module_& m) {
    m.def("cg_sparse", &py_cg_sparse<int32_t>);
    m.def("cg_sparse", &py_cg_sparse<int64_t>);
    m.def("cg_dense", &py_cg_dense);
    m.def("search_plane", &py_search_plane);
    m.def("sparse_times", &py_sparse_times<int32_t>);
    m.def("sparse_times", &py_sparse_times<int64_t>);
    m.def("sparse_gram", &py_sparse_gram<int32_t>);
    m.def("sparse_gram", &py_sparse_gram<int64_t>);
}

}  // namespace textmargin
