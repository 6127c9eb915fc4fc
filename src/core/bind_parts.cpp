// Texts in parts, for Python: arrays in, arrays out.
#include "arrays.hpp"
#include "bind.hpp"
#include "merge_terms.hpp"

namespace textmargin {
namespace {

nb::tuple py_merge_terms(Vector<u8> block_a, Vector<int64_t> ends_a, Vector<u8> block_b, Vector<int64_t> ends_b) {
    MergedTerms merged;
    {
        const nb::gil_scoped_release released;
        merged = merge_terms({view(block_a), view(ends_a)}, {view(block_b), view(ends_b)});
    }
    return nb::make_tuple(give_array(std::move(merged.block)), give_array(std::move(merged.ends)), give_array(merged.places_a),
                          give_array(merged.places_b));
}

}  // namespace

void bind_parts(nb::module_& m) {
    m.def("merge_terms", &py_merge_terms);
}

}  // namespace textmargin
