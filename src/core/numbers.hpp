// A decimal number as a double, whatever the language of the system, for libraries that have no std::from_chars of one: Apple's.
#pragma once

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#if !defined(__cpp_lib_to_chars)
#include <cerrno>
#include <locale.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif
#endif

namespace textmargin {

// Whether `written`, a number as JSON has them, is one that a double can hold.
inline bool read_number(std::string_view written, double& value) {
#if defined(__cpp_lib_to_chars)
    return std::from_chars(written.data(), written.data() + written.size(), value).ec == std::errc{};
#else
    static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
    const std::string ended(written);
    errno = 0;
    value = strtod_l(ended.c_str(), nullptr, plain);
    return errno == 0;
#endif
}

}  // namespace textmargin
