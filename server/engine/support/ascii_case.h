#pragma once

#include <string>
#include <string_view>

namespace zsetd {

// The text with its ASCII letters as capitals, or as small letters; other bytes stay.
std::string UpperCase(std::string_view text);
std::string LowerCase(std::string_view text);

}  // namespace zsetd
