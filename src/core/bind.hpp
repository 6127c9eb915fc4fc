// The parts of the Python module.
#pragma once

#include <nanobind/nanobind.h>

namespace textmargin {

void bind_primal(nanobind::module_& m);
void bind_parts(nanobind::module_& m);
void bind_gram(nanobind::module_& m);
void bind_texts(nanobind::module_& m);
void bind_many(nanobind::module_& m);
void bind_strings(nanobind::module_& m);
void bind_records(nanobind::module_& m);
void bind_words(nanobind::module_& m);

}  // namespace textmargin
