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

#include "buffer.hpp"

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

// A copy for Python, or, of a buffer, the memory itself.
template <class T>
using OutArray = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
OutArray<T> give_array(const std::vector<T>& values) {
    auto [array, data] = make<OutArray<T>, T>(values.size());
    std::copy(values.begin(), values.end(), data);
    return array;
}

template <class T>
OutArray<T> give_array(Buffer<T> values) {
    const size_t n = values.size();
    if (n == 0) values.make_room(1);
    T* data = values.release().release();
    nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
    return OutArray<T>(data, {n}, owner);
}

}  // namespace textmargin
