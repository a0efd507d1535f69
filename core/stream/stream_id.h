#pragma once

#include <compare>
#include <cstdint>
#include <optional>

namespace zsetd {

// The ID of an entry of a stream: a time in milliseconds and a sequence number within it.
struct StreamId {
  uint64_t ms = 0;
  uint64_t seq = 0;

  friend auto operator<=>(const StreamId&, const StreamId&) = default;  // NOLINT: not a pointer

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

// The place of an entry in a stream, which saves searching its block: see Stream::Cursor. It is out
// of date when entries have moved.
struct StreamPlace {
  uint64_t layout = 0;  // of the stream when the place was taken; 0: no place
  uint32_t offset = 0;  // in the entry's block
};

inline constexpr StreamId kFirstStreamId = {0, 0};
inline constexpr StreamId kLastStreamId = {UINT64_MAX, UINT64_MAX};

}  // namespace zsetd
