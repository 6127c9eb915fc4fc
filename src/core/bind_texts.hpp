// What the bindings of texts and of the solver share.
#pragma once

#include <nanobind/nanobind.h>

#include <stdexcept>
#include <string>

#include "levels.hpp"
#include "linear.hpp"
#include "sparse_texts.hpp"

namespace textmargin {

inline const LinearLevel& linear_level(const std::string& name) {
    for (const LinearLevel* level : widest_first(linear_avx512, linear_avx2, linear_baseline))
        if (name == level->name) return *level;
    throw std::invalid_argument("this machine has no vector level '" + name + "'");
}

// Ends the work at Ctrl-C.
inline void check_signals() {
    const nanobind::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

}  // namespace textmargin
