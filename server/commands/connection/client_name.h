#pragma once

#include <string_view>

namespace zsetd {

// Whether this is a valid client name: printable ASCII without spaces, so that CLIENT LIST can be
// parsed.
bool IsClientName(std::string_view name);

inline constexpr std::string_view kNotAClientName =
    "ERR Client names cannot contain spaces, newlines or special characters.";

}  // namespace zsetd
