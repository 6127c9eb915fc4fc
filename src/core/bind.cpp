// Python's door to the compiled core: arrays in, arrays out, the GIL released while it works.
#include "bind.hpp"

#include <string>

namespace nb = nanobind;

NB_MODULE(core, m) {
    nb::set_leak_warnings(false);  // a vectoriser that lives to the end of the program is no leak
    m.doc() = "Compiled core of textmargin; arrays in, arrays out.";
#if defined(__clang__)
    m.attr("COMPILER") = "Clang " __clang_version__;
#elif defined(__GNUC__)
    m.attr("COMPILER") = "GCC " __VERSION__;
#elif defined(_MSC_VER)
    m.attr("COMPILER") = ("MSVC " + std::to_string(_MSC_FULL_VER)).c_str();
#else
    m.attr("COMPILER") = nb::none();
#endif
    textmargin::bind_primal(m);
    textmargin::bind_gram(m);
    textmargin::bind_texts(m);
    textmargin::bind_many(m);
    textmargin::bind_strings(m);
    textmargin::bind_records(m);
    textmargin::bind_words(m);
    textmargin::bind_parts(m);
}
