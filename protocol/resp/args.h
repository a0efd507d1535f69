#pragma once

#include <span>
#include <string_view>

namespace zsetd {

// A request: the command's name, then its arguments. Views into a buffer that the caller owns.
using Args = std::span<const std::string_view>;

}  // namespace zsetd
