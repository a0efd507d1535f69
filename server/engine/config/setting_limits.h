#pragma once

#include <cstdint>
#include <limits>

namespace zsetd {

// Bounds of numeric settings, named by the type that Redis keeps the setting in.
inline constexpr int64_t kMinInt = std::numeric_limits<int32_t>::min();
inline constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();
inline constexpr int64_t kMaxUnsigned = std::numeric_limits<uint32_t>::max();
inline constexpr int64_t kMaxSize = std::numeric_limits<int64_t>::max();

}  // namespace zsetd
