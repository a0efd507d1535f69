#pragma once

#include <string_view>

namespace zsetd {

// The version of Redis that is reported to clients, which infer from it which commands are
// available.
inline constexpr std::string_view kRedisVersion = "7.2.0";

}  // namespace zsetd
