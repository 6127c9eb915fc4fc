// NumPy arrays in and out.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace textmargin {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutVector = nb::ndarray<nb::numpy, double, nb::ndim<1>>;
using OutTable = nb::ndarray<nb::numpy, double, nb::ndim<2>>;

template <class T>
std::span<const T> view(const Vector<T>& array) {
    return {array.data(), array.size()};
}

inline void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

// A zeroed array owned by Python. From calloc, so that the system hands out pages only as they are written.
template <class Out, class T = double, class... Sizes>
std::pair<Out, T*> make(Sizes... sizes) {
    auto* data = static_cast<T*>(std::calloc(std::max((sizes * ... * size_t{1}), size_t{1}), sizeof(T)));
    if (!data) throw std::bad_alloc();
    nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
    return {Out(data, {static_cast<size_t>(sizes)...}, owner), data};
}

inline OutVector give(const std::vector<double>& values) {
    auto [array, data] = make<OutVector>(values.size());
    std::copy(values.begin(), values.end(), data);
    return array;
}

}  // namespace textmargin
