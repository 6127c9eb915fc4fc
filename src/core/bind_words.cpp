// Texts to terms, for Python: strings or bytes of a file in, arrays out.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "arrays.hpp"
#include "bind.hpp"
#include "ngrams.hpp"
#include "digests.hpp"
#include "look_up.hpp"
#include "python_strings.hpp"

namespace textmargin {
namespace {

Kind kind_of(const std::string& name) {
    if (name == "pattern") return Kind::pattern;
    if (name == "word") return Kind::word;
    if (name == "char") return Kind::character;
    require(name == "char_wb", "there is no such kind of term");
    return Kind::character_wb;
}

using Points = Vector<u32>;

class Terms {
    Vocabulary own_;
    nb::object characters_;         // a function that gives the table of all characters
    std::optional<Points> points_;  // which is asked for once a text is not ASCII

    static Analyzer analyzer(const std::string& kind, bool lowercase, bool digits, bool underscore, u32 shortest, u32 min_n,
                             u32 max_n, bool shapes, std::vector<nb::bytes> exact_numbers, std::vector<nb::bytes> stop_words) {
        require(min_n >= 1 && min_n <= max_n, "terms have from min_n to max_n words, at least one");
        Analyzer own{{kind_of(kind), lowercase, digits, underscore}, shortest, min_n, max_n, shapes, {}, {}};
        for (const auto& number : exact_numbers) own.exact_numbers.emplace(number.c_str(), number.size());
        for (const auto& word : stop_words) {
            own.stop_words.emplace_back(word.c_str(), word.size());
            require(!own.stop_words.back().empty() && own.stop_words.back().find('\0') == std::string::npos,
                    "a stop word is empty or has a NUL");
        }
        return own;
    }

    // Calls f(texts) for a list of strings or bytes of a file.
    template <class F>
    auto with_texts(nb::handle texts, F f) {
        if (nb::isinstance<Strings>(texts)) {
            const FileStrings source(nb::cast<const Strings&>(texts));
            load_characters(source.all_ascii);
            const nb::gil_scoped_release released;
            return f(source);
        }
        const PythonStrings source(texts);
        load_characters(source.all_ascii);
        const nb::gil_scoped_release released;
        return f(source);
    }
    void load_characters(bool all_ascii) {
        if (all_ascii || points_) return;
        auto points = nb::cast<Points>(characters_());
        require(points.size() == CODE_POINTS, "the table of characters must have one entry per code point");
        if (points_) return;  // another thread was faster, and reads the table that it has
        points_ = std::move(points);
        own_.analyzer.clean.points = points_->data();
    }

    Weights weights(const Vector<double>& idf, const Vector<double>& tf, bool unit) const {
        require(idf.size() == own_.n_columns(), "idf must have a weight per column");
        return {idf.data(), tf.data(), u32(tf.size()), unit};
    }
    static nb::tuple give_matrix(Matrix matrix) {
        return nb::make_tuple(give_array(matrix.indptr), give_array(std::move(matrix.indices)), give_array(std::move(matrix.data)));
    }

  public:
    Terms(const Terms&) = delete;
    Terms(const std::string& kind, bool lowercase, bool digits, bool underscore, u32 shortest, u32 min_n, u32 max_n, bool shapes,
          std::vector<nb::bytes> exact_numbers, std::vector<nb::bytes> stop_words, nb::object characters)
        : own_(analyzer(kind, lowercase, digits, underscore, shortest, min_n, max_n, shapes, std::move(exact_numbers),
                        std::move(stop_words))),
          characters_(std::move(characters)) {}

    void add(nb::handle texts, int n_threads) {
        with_texts(texts, [&](const auto& source) { own_.add(source, n_threads, watch_signals()); });
    }

    nb::tuple join(int n_threads) {
        Vocabulary::Frequencies sums;
        {
            const nb::gil_scoped_release released;
            sums = own_.join(n_threads, watch_signals());
        }
        return nb::make_tuple(give_array(sums.df), give_array(sums.total), sums.most);
    }

    OutArray<int64_t> order() const { return give_array(own_.order()); }
    void set_columns(Vector<int32_t> columns, u32 n_columns) { own_.set_columns(view(columns), n_columns); }

    nb::tuple rows(Vector<int32_t> columns, Vector<double> idf, Vector<double> tf, bool unit, bool as_met, bool drop_zeros,
                   int n_threads) {
        Matrix matrix;
        {
            const nb::gil_scoped_release released;
            const Weights weights{idf.data(), tf.data(), u32(tf.size()), unit};
            matrix = own_.rows(view(columns), weights, u32(idf.size()), as_met, drop_zeros, n_threads, watch_signals());
        }
        return give_matrix(std::move(matrix));
    }

    void load(Vector<u8> block, Vector<int64_t> ends) {
        std::vector<Text> terms;
        int64_t start = 0;
        for (const int64_t end : view(ends)) {
            require(end >= start && size_t(end) <= block.size(), "where terms end does not fit their bytes");
            terms.emplace_back(reinterpret_cast<const char*>(block.data()) + start, size_t(end - start));
            start = end;
        }
        const nb::gil_scoped_release released;
        own_.give(terms);
    }

    nb::tuple block() const {
        const auto names = own_.names();
        std::vector<u8> bytes;
        std::vector<int64_t> ends;
        for (const auto& name : names) bytes.insert(bytes.end(), name.begin(), name.end()), ends.push_back(int64_t(bytes.size()));
        return nb::make_tuple(give_array(bytes), give_array(ends));
    }

    nb::tuple transform(nb::handle texts, Vector<double> idf, Vector<double> tf, bool unit, bool drop_zeros, int n_threads) {
        const Weights own = weights(idf, tf, unit);
        auto [matrix, most] = with_texts(texts, [&](const auto& source) {
            return textmargin::transform(own_, source, own, drop_zeros, n_threads, watch_signals());
        });
        return nb::make_tuple(give_matrix(std::move(matrix)), most);
    }

    nb::tuple scores(nb::handle texts, Vector<double> idf, Vector<double> tf, bool unit, Table coef, Vector<double> intercept,
                     int n_threads) {
        const Weights own = weights(idf, tf, unit);
        require(coef.shape(0) == own_.n_columns() && coef.shape(1) == intercept.size(), "coef must have a row per column");
        const size_t n = nb::len(texts);
        auto [scores, data] = make<OutTable>(n, intercept.size());
        auto [n_terms, n_terms_data] = make<OutArray<int32_t>, int32_t>(n);
        double* const out = data;  // a structured binding cannot be captured
        int32_t* const out_terms = n_terms_data;
        const u32 most = with_texts(texts, [&](const auto& source) {
            require(source.size() == n, "texts changed meanwhile");
            return textmargin::scores(own_, source, own, coef.data(), view(intercept), out, out_terms, n_threads, watch_signals());
        });
        return nb::make_tuple(scores, n_terms, most);
    }
};

nb::list decode_terms(Vector<u8> block, Vector<int64_t> ends) {
    nb::list names;
    int64_t start = 0;
    for (const int64_t end : view(ends)) {
        require(end >= start && size_t(end) <= block.size(), "where terms end does not fit their bytes");
        const char* from = reinterpret_cast<const char*>(block.data()) + start;
        const nb::object name = nb::steal(PyUnicode_DecodeUTF8(from, Py_ssize_t(end - start), "surrogatepass"));
        if (!name.is_valid()) throw nb::python_error();
        names.append(name);
        start = end;
    }
    return names;
}

nb::tuple py_count_ngrams(Vector<int32_t> codes, Vector<int64_t> starts, size_t length) {
    require(length >= 1, "length must be at least 1");
    require(starts.size() >= 1 && starts.data()[0] == 0 && starts.data()[starts.size() - 1] == int64_t(codes.size()) &&
                std::is_sorted(starts.data(), starts.data() + starts.size()),
            "starts must run from 0 to the number of codes");
    NgramCounts counts;
    {
        const nb::gil_scoped_release released;
        counts = count_ngrams(view(codes), view(starts), std::min(length, codes.size() + 1), watch_signals());
    }
    return nb::make_tuple(give_array(counts.indptr), give_array(std::move(counts.indices)), give_array(std::move(counts.counts)),
                          give_array(counts.places));
}

OutArray<u64> text_digests(nb::handle texts) {
    const PythonStrings source(texts);
    auto [digests, out] = make<OutArray<u64>, u64>(source.size());
    const nb::gil_scoped_release released;
    for (size_t from = 0; from < source.size(); from += 4096) {
        const auto portion = source.portion(from, std::min(from + 4096, source.size()));
        out = std::transform(portion.views.begin(), portion.views.end(), out, text_digest);
        watch_signals()();
    }
    return digests;
}

}  // namespace

void bind_words(nb::module_& m) {
    m.def("decode_terms", &decode_terms);
    m.def("count_ngrams", &py_count_ngrams);
    m.def("text_digests", &text_digests);
    nb::class_<Strings>(m, "Strings")
        .def("__len__", [](const Strings& strings) { return strings.views.size(); })
        .def("__iter__", [](const Strings& strings) {  // for whoever needs them as Python has them
            nb::list texts;
            for (const Text text : strings.views) {
                PyObject* own = PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "surrogatepass");
                if (!own) throw nb::python_error();
                texts.append(nb::steal(own));
            }
            return nb::iter(texts);
        });
    nb::class_<Terms>(m, "Terms")
        .def(nb::init<const std::string&, bool, bool, bool, u32, u32, u32, bool, std::vector<nb::bytes>, std::vector<nb::bytes>,
                      nb::object>(),
             nb::arg("kind"), nb::arg("lowercase"), nb::arg("digits"), nb::arg("underscore"), nb::arg("shortest"), nb::arg("min_n"),
             nb::arg("max_n"), nb::arg("shapes"), nb::arg("exact_numbers"), nb::arg("stop_words"), nb::arg("characters"))
        .def("add", &Terms::add)
        .def("join", &Terms::join)
        .def("order", &Terms::order)
        .def("set_columns", &Terms::set_columns)
        .def("rows", &Terms::rows)
        .def("load", &Terms::load)
        .def("block", &Terms::block)
        .def("transform", &Terms::transform)
        .def("scores", &Terms::scores);
}

}  // namespace textmargin
