// Texts in parts, for Python: arrays in, arrays out.
#include <algorithm>

#include "arrays.hpp"
#include "bind.hpp"
#include "merge_terms.hpp"
#include "python_strings.hpp"

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

OutArray<u64> text_keys(nb::handle texts) {
    const PythonStrings source(texts);
    auto [keys, out] = make<OutArray<u64>, u64>(source.size());
    const nb::gil_scoped_release released;
    for (size_t from = 0; from < source.size(); from += 4096) {
        const auto portion = source.portion(from, std::min(from + 4096, source.size()));
        out = std::transform(portion.views.begin(), portion.views.end(), out, text_key);
    }
    return keys;
}

}  // namespace

void bind_parts(nb::module_& m) {
    m.def("merge_terms", &py_merge_terms);
    m.def("text_keys", &text_keys);
}

}  // namespace textmargin
