// Texts in parts, for Python: arrays in, arrays out.
#include <algorithm>

#include "arrays.hpp"
#include "bind.hpp"
#include "drafts.hpp"
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

OutArray<int32_t> py_match_terms(Vector<u8> block, Vector<int64_t> ends, Vector<u8> all_block, Vector<int64_t> all_ends) {
    std::vector<int32_t> places;
    {
        const nb::gil_scoped_release released;
        places = match_terms({view(block), view(ends)}, {view(all_block), view(all_ends)});
    }
    return give_array(places);
}

nb::tuple py_finish_rows(Vector<int64_t> starts, Vector<int32_t> terms, Vector<u32> counts, Vector<int32_t> columns,
                         Vector<double> idf, Vector<double> tf, bool unit) {
    require(starts.size() >= 1 && starts.data()[0] == 0 && std::is_sorted(starts.data(), starts.data() + starts.size()) &&
                size_t(starts.data()[starts.size() - 1]) == terms.size() && counts.size() == terms.size(),
            "starts must run from 0 to the number of terms, of which each has a count");
    StoredRows rows;
    {
        const nb::gil_scoped_release released;
        const Weights weights{idf.data(), tf.data(), u32(tf.size()), unit};
        rows = finish_rows(view(starts), view(terms), view(counts), view(columns), weights, idf.size(), watch_signals());
    }
    return nb::make_tuple(give_array(rows.starts), give_array(std::move(rows.entries)));
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

void bind_drafts(nb::module_& m) {
    m.def("merge_terms", &py_merge_terms);
    m.def("match_terms", &py_match_terms);
    m.def("finish_rows", &py_finish_rows);
    m.def("text_keys", &text_keys);
}

}  // namespace textmargin
