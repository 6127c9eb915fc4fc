// Python's door to the compiled core: arrays in, arrays out, the GIL released while it works.
#include "bind.hpp"

NB_MODULE(core, m) {
    m.doc() = "Compiled core of textmargin; arrays in, arrays out.";
    textmargin::bind_primal(m);
    textmargin::bind_strings(m);
    textmargin::bind_words(m);
}
