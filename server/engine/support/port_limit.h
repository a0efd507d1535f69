#pragma once

#include <cstdint>

namespace zsetd {

// The highest TCP port.
inline constexpr int64_t kMaxPort = 65535;

}  // namespace zsetd
