#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/keyspace/entry.h"
#include "core/stream/stream.h"
#include "core/util/allocation.h"
#include "core/util/allocation_size.h"
#include "protocol/resp/reply_writer.h"
#include "server/engine/client/wait.h"

namespace zsetd {

// Waits until one of some streams has an entry after a given ID (XREAD), or one that a group has
// not delivered (XREADGROUP). A group's command also ends when the group, or the stream, is
// deleted. The reply at the timeout is a null array.
class StreamWait : public Wait {
 public:
  // A stream, and the ID after which an entry is new. Without an ID: the group's position.
  struct Position {
    std::string key;
    std::optional<StreamId> after;
  };

  // `group` is empty for a command without a group.
  StreamWait(std::vector<Position> positions, std::optional<std::string> group)
      : positions_(std::move(positions)), group_(std::move(group)) {}

  bool CanServe(std::string_view key, const Entry& entry, Millis now) const override;
  bool EndsWithoutKey() const override { return group_.has_value(); }
  void GiveUp(ReplyWriter& reply) const override { reply.NullArray(); }
  size_t BytesUsed() const override;

 private:
  const std::vector<Position> positions_;
  const std::optional<std::string> group_;
};

inline bool StreamWait::CanServe(std::string_view key, const Entry& entry, Millis) const {
  const Stream* const stream = entry.GetIf<Stream>();
  if (stream == nullptr) return EndsWithoutKey();
  if (group_) {
    const ConsumerGroup* const group = stream->FindGroup(*group_);
    return group == nullptr || stream->last_id() > group->last_id();
  }
  for (const Position& position : positions_) {
    if (position.key == key && stream->last_id() > *position.after) return true;
  }
  return false;
}

inline size_t StreamWait::BytesUsed() const {
  size_t bytes = AllocationSize(sizeof(*this)) + AllocatedBytes(positions_.data());
  for (const Position& position : positions_) bytes += AllocatedBytes(position.key);
  return group_ ? bytes + AllocatedBytes(*group_) : bytes;
}

}  // namespace zsetd
