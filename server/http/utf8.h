#pragma once

#include <string>
#include <string_view>

namespace zsetd {

bool IsUtf8(std::string_view text);

// Returns the text, with each byte beyond ASCII as "\xff" if the text is not UTF-8.
std::string AsUtf8(std::string_view text);

}  // namespace zsetd
