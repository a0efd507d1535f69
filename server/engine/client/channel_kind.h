#pragma once

#include <cstddef>
#include <cstdint>

namespace zsetd {

// The kinds of subscriptions. Each kind has a namespace of its own.
enum class ChannelKind : uint8_t { kChannel, kPattern, kShardChannel };

inline constexpr size_t kChannelKinds = 3;

}  // namespace zsetd
