// Texts that Python has, or a file, a portion at a time; and Python's signals while it waits.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <vector>

#include "strings.hpp"
#include "unicode.hpp"

namespace textmargin {

namespace nb = nanobind;

inline bool is_ascii(PyObject* text) {
#if defined(Py_LIMITED_API)
    static PyObject* const method = PyObject_GetAttrString(reinterpret_cast<PyObject*>(&PyUnicode_Type), "isascii");
    const nb::object answer = nb::steal(PyObject_CallFunctionObjArgs(method, text, nullptr));
    if (!answer.is_valid()) throw nb::python_error();
    return answer.is(nb::handle(Py_True));
#else
    return PyUnicode_IS_ASCII(text);
#endif
}

// Python's strings. ASCII is read where it lies; of others a portion at a time is encoded, and let go of again, so that there is
// never a copy of all of them.
class PythonStrings {
    nb::tuple texts_;  // of our own: nobody takes a text out of it while threads read
    std::vector<u32> lengths_;
    std::vector<bool> ascii_;

  public:
    bool all_ascii = true;

    explicit PythonStrings(nb::handle texts) : texts_(nb::steal<nb::tuple>(PySequence_Tuple(texts.ptr()))) {
        if (!texts_.is_valid()) throw nb::python_error();
        const size_t n = nb::len(texts_);
        lengths_.reserve(n), ascii_.reserve(n);
        for (size_t i = 0; i < n; ++i) {
            PyObject* text = PyTuple_GetItem(texts_.ptr(), Py_ssize_t(i));
            const Py_ssize_t length = PyUnicode_GetLength(text);
            if (length < 0) throw nb::python_error();
            lengths_.push_back(u32(std::min<Py_ssize_t>(length, ~u32{0})));
            ascii_.push_back(is_ascii(text));
            all_ascii &= ascii_.back();
        }
    }
    size_t size() const { return lengths_.size(); }
    size_t length(size_t i) const { return lengths_[i]; }

    struct Portion {
        std::vector<Text> views;
        std::vector<PyObject*> copies;
        Portion() = default;
        Portion(Portion&&) = default;
        ~Portion() {
            if (copies.empty()) return;
            const nb::gil_scoped_acquire acquired;
            for (PyObject* copy : copies) Py_DECREF(copy);
        }
    };
    Portion portion(size_t from, size_t to) const {
        Portion own;
        own.views.reserve(to - from);
        const nb::gil_scoped_acquire acquired;
        for (size_t i = from; i < to; ++i) {
            PyObject* text = PyTuple_GetItem(texts_.ptr(), Py_ssize_t(i));
            Py_ssize_t size;
            const char* data;
            if (ascii_[i]) {
                data = PyUnicode_AsUTF8AndSize(text, &size);
            } else {
                PyObject* copy = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
                if (!copy) throw nb::python_error();
                own.copies.push_back(copy);
                data = PyBytes_AsString(copy), size = PyBytes_Size(copy);
            }
            if (!data) throw nb::python_error();
            own.views.emplace_back(data, size_t(size));
        }
        return own;
    }
};

// Bytes of a file.
class FileStrings {
    const Strings& strings_;

  public:
    bool all_ascii;

    explicit FileStrings(const Strings& strings) : strings_(strings) {
        all_ascii = std::all_of(strings.views.begin(), strings.views.end(), [](Text text) {
            return textmargin::is_ascii(reinterpret_cast<const u8*>(text.data()), text.size());
        });
    }
    size_t size() const { return strings_.views.size(); }
    size_t length(size_t i) const { return strings_.views[i].size(); }
    struct Portion {
        std::vector<Text> views;
    };
    Portion portion(size_t from, size_t to) const {
        return {{strings_.views.begin() + ptrdiff_t(from), strings_.views.begin() + ptrdiff_t(to)}};
    }
};

inline auto watch_signals() {
    return [] {
        const nb::gil_scoped_acquire acquired;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
    };
}

}  // namespace textmargin
