#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/keyspace/entry.h"
#include "core/stream/stream.h"
#include "core/util/allocation.h"
#include "core/util/allocation_size.h"
#include "core/util/time.h"
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

  // `group` is empty for a command without a group. With `min_idle`, a pending entry that has been
  // idle for that time ends the wait, too (XREADGROUP CLAIM).
  StreamWait(std::vector<Position> positions, std::optional<std::string> group,
             std::optional<Millis> min_idle = std::nullopt)
      : positions_(Sorted(std::move(positions))) {
    if (group) group_ = {.group = *std::move(group), .min_idle = min_idle};
  }

  bool CanServe(std::string_view key, const Entry& entry, Millis now) const override;
  std::optional<Millis> NextDue(const Entry& entry, Millis now) const override;
  const GroupClaim* claim() const override {
    return group_ && group_->min_idle ? &*group_ : nullptr;
  }
  bool EndsWithoutKey() const override { return group_.has_value(); }
  void GiveUp(ReplyWriter& reply) const override { reply.NullArray(); }
  size_t BytesUsed() const override;

 private:
  static std::vector<Position> Sorted(std::vector<Position> positions);
  bool CanServeGroup(const Stream& stream, Millis now) const;

  const std::vector<Position> positions_;  // in the order of (key, after)
  std::optional<GroupClaim> group_;
};

// The time since which an entry is idle if it has been idle for `min_idle`.
inline Millis IdleSince(Millis now, Millis min_idle) { return now - min_idle; }

// The ID below which the stream has no entries: pending entries that were trimmed precede it.
inline StreamId FirstClaimable(const Stream& stream) {
  return stream.FirstId().value_or(kLastStreamId);
}

inline std::vector<StreamWait::Position> StreamWait::Sorted(std::vector<Position> positions) {
  std::ranges::sort(positions, [](const Position& left, const Position& right) {
    return std::tie(left.key, left.after) < std::tie(right.key, right.after);
  });
  return positions;
}

// O(log(keys)): each change of each key calls this. If a key occurs several times, its least ID
// decides, which comes first.
inline bool StreamWait::CanServe(std::string_view key, const Entry& entry, Millis now) const {
  const Stream* const stream = entry.GetIf<Stream>();
  if (stream == nullptr) return EndsWithoutKey();
  if (group_) return CanServeGroup(*stream, now);
  const auto position = std::ranges::lower_bound(
      positions_, key, {}, [](const Position& each) { return std::string_view(each.key); });
  return position != positions_.end() && position->key == key &&
         stream->last_id() > *position->after;
}

inline bool StreamWait::CanServeGroup(const Stream& stream, Millis now) const {
  const ConsumerGroup* const group = stream.FindGroup(group_->group);
  if (group == nullptr) return true;
  if (!group_->min_idle) return stream.last_id() > group->last_id();
  if (stream.LastEntryId().value_or(kFirstStreamId) > group->last_id()) return true;
  return group->pending().AnyIdle(
      IdleSince(now, *group_->min_idle), [&](StreamId id) { return stream.Contains(id); },
      FirstClaimable(stream));
}

inline std::optional<Millis> StreamWait::NextDue(const Entry& entry, Millis now) const {
  const Stream* const stream = entry.GetIf<Stream>();
  const ConsumerGroup* const group = stream == nullptr ? nullptr : stream->FindGroup(group_->group);
  if (group == nullptr) return std::nullopt;
  const Millis min_idle = *group_->min_idle;
  const std::optional<Millis> next =
      group->pending().NextDelivery(IdleSince(now, min_idle), FirstClaimable(*stream));
  if (!next || *next > Millis::max() - min_idle) return std::nullopt;
  return *next + min_idle;
}

inline size_t StreamWait::BytesUsed() const {
  size_t bytes = AllocationSize(sizeof(*this)) + AllocatedBytes(positions_.data());
  for (const Position& position : positions_) bytes += AllocatedBytes(position.key);
  return group_ ? bytes + AllocatedBytes(group_->group) : bytes;
}

}  // namespace zsetd
