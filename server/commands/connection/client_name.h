#pragma once

#include <string_view>

namespace zsetd {

// Whether a client may be called so: one word of printable ASCII, that CLIENT LIST stays readable.
bool IsClientName(std::string_view name);

inline constexpr std::string_view kNotAClientName =
    "ERR Client names cannot contain spaces, newlines or special characters.";

}  // namespace zsetd
