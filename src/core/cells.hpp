// Values as Python writes them: cells of csv.writer, strings of json and the digits of repr(float).
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>

#include "record_text.hpp"

namespace textmargin {

enum class Formula : uint8_t { no, yes, unknown };

// Whether a character may stand in a number, or in one of a telephone.
inline bool is_of_number(char c) {
    return (c >= '(' && c <= ':' && c != '*') || c == ' ' || c == '%';  // ( ) + , - . / 0 … 9 :
}

// Whether a spreadsheet would run a cell, as `is_formula` in tables/_cells.py says; unknown where that is a matter of Unicode's digits.
inline Formula formula(Text cell) {
    if (cell.empty()) return Formula::no;
    const char first = cell[0];
    if (first == '=' || first == '@' || first == '\t' || first == '\r') return Formula::yes;
    if (first != '+' && first != '-') return Formula::no;
    size_t at = 1;
    while (at < cell.size() && is_of_number(cell[at])) ++at;
    if (at == cell.size()) return Formula::no;
    if (cell[at] == 'e' || cell[at] == 'E') {
        if (++at < cell.size() && (cell[at] == '+' || cell[at] == '-')) ++at;
        const size_t digits = at;
        while (at < cell.size() && cell[at] >= '0' && cell[at] <= '9') ++at;
        if (at == cell.size()) return at > digits ? Formula::no : Formula::yes;
    }
    return byte_at(cell, at) >= 0x80 ? Formula::unknown : Formula::yes;
}

inline void put_quoted_cell(std::string& out, Text cell) {
    out += '"';
    for (size_t at = 0;;) {
        const size_t quote = cell.find('"', at);
        out.append(cell.substr(at, quote - at));
        if (quote == Text::npos) break;
        out.append("\"\"");
        at = quote + 1;
    }
    out += '"';
}

// A cell of a row in which no cell holds a carriage return; where one does, all are quoted.
inline void put_cell(std::string& out, Text cell, char delimiter) {
    for (const char c : cell)
        if (c == delimiter || c == '"' || c == '\n') return put_quoted_cell(out, cell);
    out.append(cell);
}

// With ensure_ascii=False.
inline void put_json_string(std::string& out, Text text) {
    static constexpr char hex[] = "0123456789abcdef";
    out += '"';
    size_t run = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        const uint8_t c = byte_at(text, i);
        if (c >= 0x20 && c != '"' && c != '\\') continue;
        out.append(text.substr(run, i - run));
        run = i + 1;
        out += '\\';
        switch (c) {
            case '\b': out += 'b'; break;
            case '\f': out += 'f'; break;
            case '\n': out += 'n'; break;
            case '\r': out += 'r'; break;
            case '\t': out += 't'; break;
            case '"':
            case '\\': out += static_cast<char>(c); break;
            default: out.append("u00"), out += hex[c >> 4], out += hex[c & 15];
        }
    }
    out.append(text.substr(run));
    out += '"';
}

// repr(float) of a finite number: the shortest digits, with an exponent below 1e-4 and from 1e16 on.
inline void put_number(std::string& out, double value) {
    char digits[40];
    const char* end = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::scientific).ptr;
    Text written(digits, static_cast<size_t>(end - digits));
    if (written[0] == '-') {
        out += '-';
        written.remove_prefix(1);
    }
    const size_t e = written.find('e');
    int exponent = 0;
    std::from_chars(written.data() + e + 2, end, exponent);
    if (written[e + 1] == '-') exponent = -exponent;
    const Text first = written.substr(0, 1), others = e > 1 ? written.substr(2, e - 2) : Text{};
    if (exponent < -4 || exponent >= 16) {  // the form of to_chars itself: two digits of exponent at least
        out.append(written);
    } else if (exponent < 0) {
        out.append("0.").append(static_cast<size_t>(-exponent - 1), '0').append(first).append(others);
    } else if (const auto whole = static_cast<size_t>(exponent); others.size() > whole) {
        out.append(first).append(others.substr(0, whole)).append(".").append(others.substr(whole));
    } else {
        out.append(first).append(others).append(whole - others.size(), '0').append(".0");
    }
}

inline double power_of_ten(int n) {
    double power = 1;
    while (n-- > 0) power *= 10;
    return power;
}

// As np.round rounds.
inline double round_to(double value, int decimals) {
    const double scale = power_of_ten(decimals);
    return std::nearbyint(value * scale) / scale;
}

// The same of a number that is rounded to so many decimals; −0 is 0. Up to 15 digits the decimal itself is the shortest one that
// means this double, so that it need not be looked for.
inline void put_rounded(std::string& out, double value, int decimals) {
    const double scale = power_of_ten(decimals), units = std::nearbyint(value * scale), size = std::fabs(units);
    if (!(size < 1e15) || (size < 1e-4 * scale && size > 0)) return put_number(out, value);
    if (units < 0) out += '-';
    char digits[24];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, static_cast<int64_t>(size / scale)).ptr) += '.';
    auto rest = static_cast<int64_t>(size) % static_cast<int64_t>(scale);
    int n = decimals;
    while (n > 1 && rest % 10 == 0) rest /= 10, --n;
    for (int k = n; k > 0; --k, rest /= 10) digits[k - 1] = static_cast<char>('0' + rest % 10);
    out.append(digits, static_cast<size_t>(n));
}

// A number that is not NaN as a cell.
inline void put_number_cell(std::string& out, double value, int decimals) {
    const double rounded = round_to(value, decimals);
    if (std::isfinite(rounded))
        put_rounded(out, rounded, decimals);
    else
        out.append(rounded < 0 ? "-inf" : "inf");
}

// In JSON; with decimals below 0 it is not rounded.
inline void put_json_number(std::string& out, double value, int decimals) {
    if (decimals >= 0) value = round_to(value, decimals);
    if (!std::isfinite(value))
        out.append(std::isnan(value) ? "null" : value < 0 ? "-Infinity" : "Infinity");
    else if (decimals < 0)
        put_number(out, value);
    else
        put_rounded(out, value, decimals);
}

}  // namespace textmargin
