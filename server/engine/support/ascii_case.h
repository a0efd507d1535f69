#pragma once

#include <string>
#include <string_view>

namespace zsetd {

// The text with its ASCII letters as capitals, or as small letters; other bytes stay.
std::string UpperCase(std::string_view text);
std::string LowerCase(std::string_view text);

// Whether the two are equal when ASCII letters of either case are.
bool EqualsIgnoringCase(std::string_view a, std::string_view b);

}  // namespace zsetd
