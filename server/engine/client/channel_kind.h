#pragma once

#include <cstddef>
#include <cstdint>

namespace zsetd {

// What a client can listen to. Each kind has names of its own.
enum class ChannelKind : uint8_t { kChannel, kPattern, kShardChannel };

inline constexpr size_t kChannelKinds = 3;

}  // namespace zsetd
