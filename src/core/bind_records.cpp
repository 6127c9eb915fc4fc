// Records of files, and lines of decisions, for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "arrays.hpp"
#include "bind.hpp"
#include "json_lines.hpp"
#include "record_writer.hpp"

namespace textmargin {
namespace {

using BoolTable = nb::ndarray<const bool, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Text view_bytes(const nb::bytes& data) { return {data.c_str(), data.size()}; }

Record& at(Batch& batch, size_t i) {
    if (i >= batch.records.size()) throw nb::index_error("there is no such record");
    return batch.records[i];
}

// Calls read(record, thread) for those that nobody has read.
template <class MakeReader>
void read_records(Batch& batch, int n_threads, const MakeReader& make_reader) {
    nb::gil_scoped_release released;
    batch.copies.resize(static_cast<size_t>(std::max(n_threads, 1)));
    in_ranges(batch.records.size(), n_threads, [&](size_t begin, size_t end, size_t thread) {
        auto read = make_reader();
        for (size_t i = begin; i < end; ++i)
            if (batch.records[i].kind == RecordKind::unread) read(batch.records[i], thread);
    });
}

std::vector<size_t> odd(const Batch& batch) {
    std::vector<size_t> found;
    for (size_t i = 0; i < batch.records.size(); ++i)
        if (batch.records[i].kind == RecordKind::odd) found.push_back(i);
    return found;
}

std::vector<size_t> rows(const Batch& batch) {
    std::vector<size_t> found;
    for (size_t i = 0; i < batch.records.size(); ++i)
        if (batch.records[i].kind == RecordKind::row || batch.records[i].kind == RecordKind::empty) found.push_back(i);
    return found;
}

// A list of make(record) for those at these places, or for all rows.
template <class Make>
nb::list list_of(Batch& batch, const std::optional<std::vector<size_t>>& places, const Make& make) {
    const std::vector<size_t> which = places ? *places : rows(batch);
    const nb::list found = nb::steal<nb::list>(PyList_New(static_cast<Py_ssize_t>(which.size())));
    if (!found.is_valid()) throw nb::python_error();
    for (size_t k = 0; k < which.size(); ++k) {
        PyObject* one = make(at(batch, which[k]));
        if (!one) throw nb::python_error();
        PyList_SetItem(found.ptr(), static_cast<Py_ssize_t>(k), one);
    }
    return found;
}

// The values of a column, of records that `read_delimited` found to have it.
nb::list values(Batch& batch, char delimiter, size_t column, const std::optional<std::vector<size_t>>& places) {
    std::string copy;
    return list_of(batch, places, [&](const Record& record) {
        Text found;
        size_t n = 0;
        each_value(record.content, delimiter, [&](const Value& value) {
            if (n++ == column) found = value.plain(copy);
        });
        return PyUnicode_DecodeUTF8(found.data(), static_cast<Py_ssize_t>(found.size()), nullptr);
    });
}

nb::tuple counts(const Batch& batch) {
    size_t n_texts = 0, n_empty = 0, n_blank = 0;
    for (const Record& record : batch.records) {
        n_texts += record.kind == RecordKind::row;
        n_empty += record.kind == RecordKind::empty;
        n_blank += record.kind == RecordKind::blank;
    }
    return nb::make_tuple(n_texts, n_empty, n_blank);
}

Strings texts(const std::shared_ptr<Batch>& batch) {
    Strings found;
    for (Record& record : batch->records) {
        if (record.kind != RecordKind::row) continue;
        record.place = found.views.size();
        found.views.push_back(record.text);
    }
    found.owner = batch;
    return found;
}

nb::bytes join(const std::vector<LineWriter>& writers) {
    size_t size = 0;
    for (const auto& one : writers) size += one.out.size();
    PyObject* bytes = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size));
    if (!bytes) throw nb::python_error();
    char* to = PyBytes_AsString(bytes);
    for (const auto& one : writers) to = std::copy(one.out.begin(), one.out.end(), to);
    return nb::steal<nb::bytes>(bytes);
}

nb::tuple write(const LineForm& form, const Batch& batch, BoolTable accepted, BoolTable unsure, Table scores,
                std::optional<Table> probabilities, int n_threads) {
    const auto n_texts = static_cast<size_t>(std::count_if(batch.records.begin(), batch.records.end(), [](const Record& record) {
        return record.kind == RecordKind::row;
    }));
    const auto fits = [&](const auto& array) { return array.shape(0) == n_texts && array.shape(1) == form.names.size(); };
    require(fits(accepted) && fits(unsure) && fits(scores) && (!probabilities || fits(*probabilities)),
            "there must be a row for each text, and a column for each class");
    const size_t n_keys = (form.class_scores ? 2 : 1) * (probabilities ? 2 : 1) + 2;
    require(!form.json || form.keys.size() == n_keys, "there must be a key for each column");
    const DecisionArrays decisions{form.names.size(), accepted.data(), unsure.data(), scores.data(),
                                   probabilities ? probabilities->data() : nullptr};
    std::vector<LineWriter> writers(static_cast<size_t>(std::max(n_threads, 1)), LineWriter(form, decisions));
    {
        nb::gil_scoped_release released;
        in_ranges(batch.records.size(), n_threads, [&](size_t begin, size_t end, size_t thread) {
            LineWriter& writer = writers[thread];
            writer.out.reserve(batch.bytes.size() / writers.size() + 64 * (end - begin));
            for (size_t i = begin; i < end; ++i) writer.write(batch.records[i]);
        });
    }
    size_t n_formulas = 0;
    for (const auto& one : writers) n_formulas += one.n_formulas;
    return nb::make_tuple(join(writers), n_formulas);
}

}  // namespace

void bind_records(nb::module_& m) {
    nb::class_<RecordSplitter>(m, "RecordSplitter")
        .def(nb::init<int, size_t, size_t>(), nb::arg("delimiter"), nb::arg("most_lines"), nb::arg("most_bytes"))
        .def("add", [](RecordSplitter& self, nb::bytes data) { return self.add(view_bytes(data)); })
        .def("finish", &RecordSplitter::finish)
        .def_prop_ro("line_size", &RecordSplitter::line_size)
        .def_prop_ro("pending", &RecordSplitter::pending)
        .def_ro("number", &RecordSplitter::number);
    nb::class_<Batch>(m, "Records")
        .def("__len__", [](const Batch& self) { return self.records.size(); })
        .def("line", [](Batch& self, size_t i) {
            const Record& record = at(self, i);
            return nb::make_tuple(record.number, nb::bytes(record.content.data(), record.content.size()));
        })
        .def("unread", [](const Batch& self, size_t most) {
            std::vector<size_t> found;
            for (size_t i = 0; i < self.records.size() && found.size() < most; ++i)
                if (self.records[i].kind == RecordKind::unread) found.push_back(i);
            return found;
        }, nb::arg("most"))
        .def("leave_out", [](Batch& self, size_t i) { at(self, i).kind = RecordKind::outside; })
        .def("leave_out_from", [](Batch& self, size_t i) { self.records.resize(std::min(i, self.records.size())); })
        .def("put_row", [](Batch& self, size_t i, nb::bytes text) {
            at(self, i).kind = RecordKind::row;
            at(self, i).text = self.keep(std::string(view_bytes(text)));
        })
        .def("put_empty", [](Batch& self, size_t i) { at(self, i).kind = RecordKind::empty; })
        .def("put_line", [](Batch& self, size_t i, nb::bytes line) {
            at(self, i).given = true;
            at(self, i).own = self.keep(std::string(view_bytes(line)));
        })
        .def("read_lines", [](Batch& self, bool defuse, int n_threads) {
            read_records(self, n_threads, [=] { return [=](Record& record, size_t) { read_plain(record, defuse); }; });
        }, nb::arg("defuse"), nb::arg("n_threads"))
        .def("read_delimited", [](Batch& self, char delimiter, size_t n_columns, size_t text, bool defuse, int n_threads) {
            const Columns columns{delimiter, n_columns, text, defuse};
            read_records(self, n_threads, [&] {
                return [&](Record& record, size_t thread) { read_delimited(self, record, columns, thread); };
            });
        }, nb::arg("delimiter"), nb::arg("n_columns"), nb::arg("text"), nb::arg("defuse"), nb::arg("n_threads"))
        .def("read_objects", [](Batch& self, const std::string& text, std::vector<std::string> reserved, int n_threads) {
            const Objects objects{text, std::move(reserved)};
            read_records(self, n_threads, [&] {
                return [&, reader = ObjectReader(objects)](Record& record, size_t thread) mutable { reader.read(self, record, thread); };
            });
        }, nb::arg("text"), nb::arg("reserved"), nb::arg("n_threads"))
        .def_prop_ro("odd", &odd)
        .def_prop_ro("rows", &rows)
        .def("numbers", [](Batch& self, const std::optional<std::vector<size_t>>& places) {
            return list_of(self, places, [](const Record& record) { return PyLong_FromLongLong(record.number); });
        }, nb::arg("places") = nb::none())
        .def("values", &values, nb::arg("delimiter"), nb::arg("column"), nb::arg("places") = nb::none())
        .def_prop_ro("counts", &counts)
        .def("place", [](Batch& self, size_t i) { return at(self, i).place; })
        .def("texts", &texts);
    nb::class_<LineForm>(m, "LineForm")
        .def("__init__", [](LineForm* self, const std::string& source, char source_delimiter, bool narrow, bool multilabel,
                            bool class_scores, int decimals, std::vector<std::string> names, char delimiter, bool defuse, bool json, std::vector<std::string> own_keys,
                            std::vector<std::string> keys, std::vector<std::string> class_keys) {
            const Source kind = source == "txt" ? Source::lines : source == "jsonl" ? Source::objects : Source::delimited;
            require(!json || class_keys.size() == names.size(), "there must be a key for each class");
            require(decimals >= 1 && decimals <= 15, "numbers have 1 to 15 decimals");
            require(json || narrow || kind != Source::objects, "objects have no columns that could be cells");
            new (self) LineForm{kind, source_delimiter, narrow, multilabel, class_scores, decimals, std::move(names), delimiter, defuse, json,
                                std::move(own_keys), std::move(keys), std::move(class_keys)};
        }, nb::kw_only(), nb::arg("source"), nb::arg("source_delimiter"), nb::arg("narrow"), nb::arg("multilabel"),
           nb::arg("class_scores"), nb::arg("decimals"), nb::arg("names"), nb::arg("delimiter"), nb::arg("defuse"), nb::arg("json"), nb::arg("own_keys"), nb::arg("keys"), nb::arg("class_keys"))
        .def("write", &write, nb::arg("records"), nb::arg("accepted"), nb::arg("unsure"), nb::arg("scores"),
             nb::arg("probabilities").none(), nb::arg("n_threads"));
    m.def("number_text", [](double value, int decimals) {
        std::string out;
        put_json_number(out, value, decimals);
        return out;
    }, nb::arg("value"), nb::arg("decimals") = -1, "A number as it is written in JSON, rounded where decimals are given.");
}

}  // namespace textmargin
