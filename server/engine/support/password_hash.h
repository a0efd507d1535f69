#pragma once

#include <string>
#include <string_view>

namespace zsetd {

// The SHA-256 of a password as 64 lower-case hex digits.
std::string HashPassword(std::string_view password);

// Whether the text may be such a hash.
bool IsPasswordHash(std::string_view text);

// Takes a time that depends on the lengths alone.
bool EqualsInConstantTime(std::string_view a, std::string_view b);

}  // namespace zsetd
