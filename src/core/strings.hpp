// Texts as bytes of UTF-8, lone surrogates included, whoever owns them: Python's strings, or a piece of a file.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

namespace textmargin {

using Text = std::string_view;

struct Strings {
    std::vector<Text> views;
    std::shared_ptr<const void> owner;  // of the bytes, where that is not the caller
};

}  // namespace textmargin
