// Records and what was decided on them as lines of CSV, TSV or JSON, as tables/writer.py writes them.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <vector>

#include "delimited.hpp"

namespace textmargin {

// What was decided on the rows with a text, (n_texts, n_classes) each, as `Decisions` in labels.py has it.
struct DecisionArrays {
    size_t n_classes;
    const bool *accepted, *unsure;
    const double *scores, *probabilities;  // of the latter there may be none

    // The lowest of the labels that are given, else of those that are open; of none, above(the highest). NaN is both.
    template <class Above>
    double of_labels(const double* values, size_t place, double most, double least, const Above& above) const {
        const size_t start = place * n_classes;
        const bool* own = std::find(accepted + start, accepted + start + n_classes, true) == accepted + start + n_classes ? unsure : accepted;
        double lowest = most, highest = least;
        bool none = true;
        for (size_t k = start; k < start + n_classes; ++k) {
            const double value = values[k];
            if (std::isnan(value) || value > highest) highest = std::isnan(highest) ? highest : value;
            if (!own[k]) continue;
            none = false;
            if (std::isnan(value) || value < lowest) lowest = std::isnan(lowest) ? lowest : value;
        }
        return none ? above(highest) : lowest;
    }
    double score(size_t place) const {
        return of_labels(scores, place, INFINITY, -INFINITY, [](double highest) { return highest; });
    }
    double confidence(size_t place) const {
        return of_labels(probabilities, place, 1.0, 0.0, [](double highest) { return 1.0 - highest; });
    }
};

enum class Source : uint8_t { lines, delimited, objects };

struct LineForm {
    Source source;
    char source_delimiter;
    bool narrow;  // whether the number of the line stands for the row
    bool multilabel;
    bool class_scores;               // whether scores of every class follow, in JSON probabilities too
    int decimals;                    // of numbers, but of the latter in JSON
    std::vector<std::string> names;  // of the classes

    // Of CSV and TSV.
    char delimiter;
    bool defuse;

    // Of JSON; keys as they are written, with the colon.
    bool json;
    std::vector<std::string> own_keys, keys, class_keys;
};

class LineWriter {
    const LineForm& form_;
    const DecisionArrays& decisions_;
    std::string copy_;

  public:
    std::string out;
    size_t n_formulas = 0;

    LineWriter(const LineForm& form, const DecisionArrays& decisions) : form_(form), decisions_(decisions) {}

    void write(const Record& record) {
        if (record.kind != RecordKind::row && record.kind != RecordKind::empty) return;
        if (record.given)
            out.append(record.own);
        else if (form_.json)
            write_object(record);
        else
            write_cells(record);
    }

  private:
    void put_line_number(int64_t number) {
        char digits[24];
        out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
    }

    // A row in which a cell holds a carriage return has all its text in quotes.
    void write_cells(const Record& record) {
        bool quote = false;
        if (form_.narrow) {
            put_line_number(record.number);
            out += form_.delimiter;
        } else if (form_.source == Source::lines) {
            put_own(record.content, false);
        } else {
            quote = record.quoted && record.content.find('\r') != Text::npos;
            put_values(record, quote);
        }
        for (const bool* which : {decisions_.accepted, decisions_.unsure}) {
            put_names(record, which, quote);
            out += form_.delimiter;
        }
        const bool decided = record.kind == RecordKind::row;
        put_number(decided ? decisions_.score(record.place) : NAN, quote);
        if (decisions_.probabilities) {
            out += form_.delimiter;
            put_number(decided ? decisions_.confidence(record.place) : NAN, quote);
        }
        for (size_t k = 0; form_.class_scores && k < decisions_.n_classes; ++k) {
            out += form_.delimiter;
            put_number(decided ? decisions_.scores[record.place * decisions_.n_classes + k] : NAN, quote);
        }
        out += '\n';
    }

    void put_number(double number, bool quote) {
        if (std::isnan(number))
            put({}, quote);
        else
            put_number_cell(out, number, form_.decimals);
    }

    // The values of a row; where it holds no quotes they can be copied, but for formulas.
    void put_values(const Record& record, bool quote) {
        const Text content = record.content;
        if (record.quoted || form_.source_delimiter != form_.delimiter) {
            each_value(content, form_.source_delimiter, [&](const Value& value) { put_own(value.plain(copy_), quote); });
            return;
        }
        const char* rest = content.data();
        if (form_.defuse && record.formulas)
            each_value(content, form_.source_delimiter, [&](const Value& value) {
                if (formula(value.raw) != Formula::yes) return;
                ++n_formulas;
                out.append(rest, value.raw.data()) += '\'';
                rest = value.raw.data();
            });
        out.append(rest, content.data() + content.size()) += form_.delimiter;
    }

    void put_own(Text cell, bool quote) {
        std::string harmless;
        if (form_.defuse && formula(cell) == Formula::yes) {
            ++n_formulas;
            harmless.append("'").append(cell);
            cell = harmless;
        }
        put(cell, quote);
        out += form_.delimiter;
    }

    void put(Text cell, bool quote) {
        if (quote)
            put_quoted_cell(out, cell);
        else
            put_cell(out, cell, form_.delimiter);
    }

    // The names of a row's labels: of several with ; between them.
    void put_names(const Record& record, const bool* which, bool quote) {
        const size_t n = record.kind == RecordKind::row ? decisions_.n_classes : 0;
        const bool *own = which + record.place * decisions_.n_classes, *first = std::find(own, own + n, true);
        if (first == own + n) return put({}, quote);
        Text cell = form_.names[static_cast<size_t>(first - own)];
        if (form_.multilabel && std::find(first + 1, own + n, true) != own + n) {
            copy_.assign(cell);
            for (size_t k = static_cast<size_t>(first - own) + 1; k < n; ++k)
                if (own[k]) copy_.append(";").append(form_.names[k]);
            cell = copy_;
        }
        put(cell, quote);
    }

    void write_object(const Record& record) {
        if (form_.narrow) {
            out.append(form_.own_keys.at(0));
            put_line_number(record.number);
        } else if (form_.source == Source::objects) {
            out.append(record.own);
        } else if (form_.source == Source::lines) {
            out.append(form_.own_keys.at(0));
            put_json_string(out, record.content);
        } else {
            size_t column = 0;
            each_value(record.content, form_.source_delimiter, [&](const Value& value) {
                out.append(form_.own_keys.at(column++));
                put_json_string(out, value.plain(copy_));
            });
        }
        size_t key = 0;
        for (const bool* which : {decisions_.accepted, decisions_.unsure}) {
            out.append(form_.keys[key++]);
            put_json_names(record, which);
        }
        const bool decided = record.kind == RecordKind::row;
        out.append(form_.keys[key++]);
        put_json_number(out, decided ? decisions_.score(record.place) : NAN, form_.decimals);
        if (decisions_.probabilities) {
            out.append(form_.keys[key++]);
            put_json_number(out, decided ? decisions_.confidence(record.place) : NAN, form_.decimals);
        }
        for (const double* values : {decisions_.scores, decisions_.probabilities}) {
            if (!form_.class_scores || !values) continue;
            out.append(form_.keys[key++]);
            if (!decided) {
                out.append("null");
                continue;
            }
            for (size_t k = 0; k < decisions_.n_classes; ++k) {
                out.append(form_.class_keys[k]);
                put_json_number(out, values[record.place * decisions_.n_classes + k], -1);
            }
            out += '}';
        }
        out.append("}\n");
    }

    void put_json_names(const Record& record, const bool* which) {
        const bool* own = which + record.place * decisions_.n_classes;
        const bool* end = own + (record.kind == RecordKind::row ? decisions_.n_classes : 0);
        const bool* one = std::find(own, end, true);
        if (record.kind != RecordKind::row || (!form_.multilabel && one == end)) {
            out.append("null");
        } else if (!form_.multilabel) {
            put_json_string(out, form_.names[static_cast<size_t>(one - own)]);
        } else {
            out += '[';
            for (Text between; one != end; one = std::find(one + 1, end, true), between = ", ") {
                out.append(between);
                put_json_string(out, form_.names[static_cast<size_t>(one - own)]);
            }
            out += ']';
        }
    }
};

}  // namespace textmargin
