#pragma once

#include <compare>
#include <cstdint>
#include <optional>

namespace zsetd {

// The ID of an entry of a stream: a time in milliseconds and a sequence number within it.
struct StreamId {
  uint64_t ms = 0;
  uint64_t seq = 0;

  friend auto operator<=>(const StreamId&, const StreamId&) = default;

  // The following and the preceding ID; nullopt at the end of the range of IDs.
  std::optional<StreamId> Next() const {
    if (seq < UINT64_MAX) return StreamId{ms, seq + 1};
    return ms < UINT64_MAX ? std::optional(StreamId{ms + 1, 0}) : std::nullopt;
  }
  std::optional<StreamId> Previous() const {
    if (seq > 0) return StreamId{ms, seq - 1};
    return ms > 0 ? std::optional(StreamId{ms - 1, UINT64_MAX}) : std::nullopt;
  }
};

inline constexpr StreamId kFirstStreamId = {0, 0};
inline constexpr StreamId kLastStreamId = {UINT64_MAX, UINT64_MAX};

}  // namespace zsetd
