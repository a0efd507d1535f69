#pragma once

#include <string_view>

namespace zsetd {

// The version of Redis that clients are told, from which they judge which commands there are.
inline constexpr std::string_view kRedisVersion = "7.2.0";

}  // namespace zsetd
