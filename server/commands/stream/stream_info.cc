#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/stream/stream.h"
#include "server/commands/common/help.h"
#include "server/commands/stream/families.h"
#include "server/commands/stream/stream_id_text.h"
#include "server/commands/stream/stream_reply.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

void ReplyCount(ReplyWriter& reply, std::string_view name, size_t count) {
  reply.Bulk(name);
  reply.Integer(static_cast<int64_t>(count));
}

void ReplyId(ReplyWriter& reply, std::string_view name, StreamId id) {
  reply.Bulk(name);
  ReplyStreamId(reply, id);
}

// Finds the stream, which must exist.
const Stream* StreamOrError(Call& call) {
  const Stream* const stream = call.Find<Stream>(call.args.Word());
  if (stream == nullptr) call.args.Refuse(kNoSuchKey);
  return stream;
}

// Subtracts modulo 2^64, like Redis: clients choose both numbers (XSETID, XGROUP SETID).
int64_t Difference(uint64_t added, uint64_t read) { return static_cast<int64_t>(added - read); }

// The number of entries that the group has not read; nullopt if it cannot be known.
std::optional<int64_t> LagOf(const Stream& stream, const ConsumerGroup& group) {
  const uint64_t added = stream.state().entries_added;
  if (added == 0) return 0;
  if (group.entries_read() != ConsumerGroup::kUnknownCount &&
      !stream.MayLackEntriesAbove(group.last_id())) {
    return Difference(added, static_cast<uint64_t>(group.entries_read()));
  }
  const std::optional<uint64_t> read = stream.CountUpTo(group.last_id());
  return read ? std::optional(Difference(added, *read)) : std::nullopt;
}

void ReplyProgress(ReplyWriter& reply, const Stream& stream, const ConsumerGroup& group) {
  ReplyId(reply, "last-delivered-id", group.last_id());
  reply.Bulk("entries-read");
  if (group.entries_read() == ConsumerGroup::kUnknownCount) {
    reply.Null();
  } else {
    reply.Integer(group.entries_read());
  }
  reply.Bulk("lag");
  const std::optional<int64_t> lag = LagOf(stream, group);
  lag ? reply.Integer(*lag) : reply.Null();
}

void Groups(Call& call) {
  const Stream* const stream = StreamOrError(call);
  if (call.Refused()) return;
  call.reply.Array(stream->groups().size());
  for (const auto& [name, group] : stream->groups()) {
    call.reply.Map(6);
    call.reply.Bulk("name");
    call.reply.Bulk(name);
    ReplyCount(call.reply, "consumers", group.consumers().size());
    ReplyCount(call.reply, "pending", group.pending().size());
    ReplyProgress(call.reply, *stream, group);
  }
}

// -1 if the consumer has never received or claimed an entry.
Millis InactiveTime(const Consumer& consumer, Millis now) {
  return consumer.active < Millis(0) ? consumer.active : std::max(now - consumer.active, Millis(0));
}

void Consumers(Call& call) {
  const std::string_view key = call.args.Peek();
  const Stream* const stream = StreamOrError(call);
  const std::string_view name = call.args.Word();
  const ConsumerGroup* const group = stream == nullptr ? nullptr : stream->FindGroup(name);
  if (group == nullptr) {
    call.args.Refuse("NOGROUP No such consumer group " + Quoted(name) + " for key name " +
                     Quoted(key));
  }
  if (call.Refused()) return;
  call.reply.Array(group->consumers().size());
  for (const auto& [consumer_name, consumer] : group->consumers()) {
    call.reply.Map(4);
    call.reply.Bulk("name");
    call.reply.Bulk(consumer_name);
    ReplyCount(call.reply, "pending", consumer.pending);
    call.reply.Bulk("idle");
    call.reply.Integer(std::max(call.now() - consumer.seen, Millis(0)).count());
    call.reply.Bulk("inactive");
    call.reply.Integer(InactiveTime(consumer, call.now()).count());
  }
}

// The blocks are reported as the keys of Redis's radix tree.
void ReplyState(ReplyWriter& reply, const Stream& stream) {
  ReplyCount(reply, "length", stream.size());
  ReplyCount(reply, "radix-tree-keys", stream.block_count());
  ReplyCount(reply, "radix-tree-nodes", stream.block_count() + 1);
  ReplyId(reply, "last-generated-id", stream.last_id());
  ReplyId(reply, "max-deleted-entry-id", stream.state().max_deleted_id);
  ReplyCount(reply, "entries-added", stream.state().entries_added);
  ReplyId(reply, "recorded-first-entry-id", stream.FirstId().value_or(kFirstStreamId));
}

// The limits and counts of producers' IDs, if any was ever given.
constexpr size_t kProducerFields = 6;
size_t ProducerFields(const Stream& stream) {
  return stream.producers() == nullptr ? 0 : kProducerFields;
}

void ReplyProducers(ReplyWriter& reply, const Stream& stream) {
  const Producers* const producers = stream.producers();
  if (producers == nullptr) return;
  ReplyCount(reply, "idmp-duration", producers->limits().seconds);
  ReplyCount(reply, "idmp-maxsize", producers->limits().ids);
  ReplyCount(reply, "pids-tracked", producers->producer_count());
  ReplyCount(reply, "iids-tracked", producers->id_count());
  ReplyCount(reply, "iids-added", producers->counts().added);
  ReplyCount(reply, "iids-duplicates", producers->counts().repeated);
}

void ReplyEntryOrNull(ReplyWriter& reply, std::string_view name, const Stream& stream,
                      std::optional<StreamId> id) {
  reply.Bulk(name);
  if (id) {
    ReplyEntryAt(reply, stream, *id);
  } else {
    reply.Null();
  }
}

void ReplyPendingOfGroup(ReplyWriter& reply, const ConsumerGroup& group, size_t most) {
  const size_t count = std::min(group.pending().size(), most);
  ReplyCount(reply, "pel-count", group.pending().size());
  reply.Bulk("pending");
  reply.Array(count);
  for (PendingEntries::Cursor at(group.pending(), kFirstStreamId, std::nullopt, count); at.valid();
       at.Next()) {
    reply.Array(4);
    ReplyStreamId(reply, at.entry().id);
    reply.Bulk(group.NameOf(at.entry()));
    reply.Integer(at.entry().delivery_time().count());
    reply.Integer(static_cast<int64_t>(at.entry().deliveries));
  }
}

void ReplyPendingOfConsumer(ReplyWriter& reply, const Consumer& consumer,
                            const std::vector<PendingEntry>& entries) {
  ReplyCount(reply, "pel-count", consumer.pending);
  reply.Bulk("pending");
  reply.Array(entries.size());
  for (const PendingEntry& entry : entries) {
    reply.Array(3);
    ReplyStreamId(reply, entry.id);
    reply.Integer(entry.delivery_time().count());
    reply.Integer(static_cast<int64_t>(entry.deliveries));
  }
}

void ReplyFullGroup(ReplyWriter& reply, const Stream& stream, const ConsumerGroup& group,
                    std::string_view name, size_t most) {
  const std::vector<std::vector<PendingEntry>> first = group.FirstPending(most);
  reply.Map(group.released() > 0 ? 8 : 7);
  reply.Bulk("name");
  reply.Bulk(name);
  ReplyProgress(reply, stream, group);
  if (group.released() > 0) ReplyCount(reply, "nacked-count", group.released());
  ReplyPendingOfGroup(reply, group, most);
  reply.Bulk("consumers");
  reply.Array(group.consumers().size());
  for (const auto& [consumer_name, consumer] : group.consumers()) {
    reply.Map(5);
    reply.Bulk("name");
    reply.Bulk(consumer_name);
    reply.Bulk("seen-time");
    reply.Integer(consumer.seen.count());
    reply.Bulk("active-time");
    reply.Integer(consumer.active.count());
    ReplyPendingOfConsumer(reply, consumer, first[consumer.number]);
  }
}

void ReplyFull(ReplyWriter& reply, const Stream& stream, size_t most) {
  reply.Map(9 + ProducerFields(stream));
  ReplyState(reply, stream);
  ReplyProducers(reply, stream);
  reply.Bulk("entries");
  ReplyEntries(reply, stream, {.most = most});
  reply.Bulk("groups");
  reply.Array(stream.groups().size());
  for (const auto& [name, group] : stream.groups()) {
    ReplyFullGroup(reply, stream, group, name, most);
  }
}

// Takes [FULL [COUNT count]]. Nullopt without FULL.
std::optional<size_t> TakeFull(Call& call) {
  constexpr int64_t kUsual = 10;
  ArgReader& args = call.args;
  if (args.AtEnd()) return std::nullopt;
  const bool is_complete = args.left() == 1 || args.left() == 3;
  bool is_sound = is_complete && args.Take("full");
  int64_t count = kUsual;
  if (is_sound && !args.AtEnd()) {
    is_sound = args.Take("count");
    if (is_sound) count = args.Integer();
  }
  if (!is_sound) {
    args.Refuse("ERR unknown subcommand or wrong number of arguments for " +
                Quoted(call.argv()[1], 128) + ". Try XINFO HELP.");
  }
  if (count == 0) return SIZE_MAX;
  return static_cast<size_t>(count < 0 ? kUsual : count);
}

void StreamInfo(Call& call) {
  const Stream* const stream = StreamOrError(call);
  const std::optional<size_t> full = TakeFull(call);
  if (call.Refused()) return;
  if (full) return ReplyFull(call.reply, *stream, *full);
  call.reply.Map(10 + ProducerFields(*stream));
  ReplyState(call.reply, *stream);
  ReplyProducers(call.reply, *stream);
  ReplyCount(call.reply, "groups", stream->groups().size());
  ReplyEntryOrNull(call.reply, "first-entry", *stream, stream->FirstId());
  ReplyEntryOrNull(call.reply, "last-entry", *stream, stream->LastEntryId());
}

constexpr KeyPlaces kInfoKey = {2, 2, 1};

constexpr Command kStreamInfoCommands[] = {
    {.name = "xinfo",
     .arity = -2,
     .group = CommandGroup::kStream,
     .since = "5.0.0",
     .summary = "Inspects a stream.",
     .cost = "Depends on the subcommand"},
    {.name = "xinfo|consumers",
     .run = Consumers,
     .arity = 4,
     .flags = kReadOnly,
     .keys = kInfoKey,
     .group = CommandGroup::kStream,
     .since = "5.0.0",
     .usage = "key group",
     .summary = "Lists the consumers of a consumer group.",
     .cost = "O(N) for N consumers",
     .tips = "nondeterministic_output"},
    {.name = "xinfo|groups",
     .run = Groups,
     .arity = 3,
     .flags = kReadOnly,
     .keys = kInfoKey,
     .group = CommandGroup::kStream,
     .since = "5.0.0",
     .usage = "key",
     .summary = "Lists the consumer groups of a stream.",
     .cost = "O(N) for N groups"},
    {.name = "xinfo|help",
     .run = Help,
     .arity = 2,
     .flags = kLoading | kStale,
     .group = CommandGroup::kStream,
     .since = "5.0.0",
     .summary = "Lists the subcommands.",
     .cost = "O(1)"},
    {.name = "xinfo|stream",
     .run = StreamInfo,
     .arity = -3,
     .flags = kReadOnly,
     .keys = kInfoKey,
     .group = CommandGroup::kStream,
     .since = "5.0.0",
     .usage = "key [FULL [COUNT count]]",
     .summary = "Describes a stream, with FULL also its entries and groups.",
     .cost = "O(1); with FULL O(N) for N entries returned"},
};

}  // namespace

std::span<const Command> StreamInfoCommands() { return kStreamInfoCommands; }

}  // namespace zsetd
