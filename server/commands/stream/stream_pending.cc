#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/stream/stream.h"
#include "protocol/text/number_text.h"
#include "server/commands/stream/families.h"
#include "server/commands/stream/stream_id_text.h"
#include "server/commands/stream/stream_reply.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

// As in Redis, the IDs are not parsed if the group does not exist.
void XAck(Call& call) {
  const std::string_view key = call.args.Word();
  const std::string_view name = call.args.Word();
  const bool exists = call.Find<Stream>(key) != nullptr;
  const Edit<Stream> stream = exists ? call.Open<Stream>(key, KeyEvent::kNone) : Edit<Stream>();
  ConsumerGroup* const group = stream ? stream->ChangeGroup(name) : nullptr;
  if (group == nullptr && call.args.ok()) return call.reply.Integer(0);
  absl::InlinedVector<StreamId, 4> ids;
  while (call.args.ok() && !call.args.AtEnd()) ids.push_back(TakeStreamId(call.args));
  if (call.Refused()) return;
  size_t acknowledged = 0;
  for (const StreamId id : ids) acknowledged += group->Acknowledge(id);
  stream->CountChanges(acknowledged);
  call.reply.Integer(static_cast<int64_t>(acknowledged));
}

// The entries that XPENDING lists.
struct PendingRange {
  StreamId first;
  StreamId last;
  uint64_t most = 0;
  Millis min_idle{0};
  std::optional<std::string_view> consumer;
};

// Takes [IDLE min-idle] start end count [consumer]. As in Redis, the count is parsed first, and
// without IDLE two more arguments are ignored.
PendingRange TakePendingRange(ArgReader& args) {
  PendingRange range;
  if (args.left() < 3 || args.left() > 6) args.Refuse(kSyntaxError);
  if (args.Take("idle")) {
    range.min_idle = Millis(args.Integer());
    if (args.left() < 3) args.Refuse(kSyntaxError);
  }
  const Args words = args.Next(std::min<size_t>(args.left(), 3));
  if (!args.ok()) return range;
  ArgReader count(words, 2);
  range.most = static_cast<uint64_t>(std::max<int64_t>(count.Integer(), 0));
  ArgReader bounds(words, 0);
  range.first = TakeRangeStart(bounds);
  range.last = TakeRangeEnd(bounds);
  if (!count.ok()) args.Refuse(count.status());
  if (!bounds.ok()) args.Refuse(bounds.status());
  if (!args.AtEnd()) range.consumer = args.Word();
  return range;
}

// The number of entries, the first and the last ID, and the consumers that have entries.
void ReplySummary(ReplyWriter& reply, const ConsumerGroup& group) {
  reply.Array(4);
  reply.Integer(static_cast<int64_t>(group.pending().size()));
  const PendingEntries& pending = group.pending();
  if (pending.size() == 0) {
    reply.Null();
    reply.Null();
    return reply.NullArray();
  }
  ReplyStreamId(reply, pending.FirstId());
  ReplyStreamId(reply, pending.LastId());
  const auto has_entries = [](const auto& consumer) { return consumer.second.pending > 0; };
  reply.Array(static_cast<size_t>(std::ranges::count_if(group.consumers(), has_entries)));
  for (const auto& [name, consumer] : group.consumers()) {
    if (consumer.pending == 0) continue;
    reply.Array(2);
    reply.Bulk(name);
    reply.Bulk(IntegerText(static_cast<int64_t>(consumer.pending)));
  }
}

std::vector<PendingEntry> EntriesOf(const ConsumerGroup& group, const PendingRange& range,
                                    Millis now) {
  std::vector<PendingEntry> entries;
  std::optional<uint32_t> number;
  size_t all = group.pending().size();
  if (range.consumer) {
    const Consumer* const consumer = group.FindConsumer(*range.consumer);
    if (consumer == nullptr) return entries;
    number = consumer->number;
    all = consumer->pending;
  }
  for (PendingEntries::Cursor at(group.pending(), range.first, number, all);
       at.valid() && at.entry().id <= range.last && entries.size() < range.most; at.Next()) {
    if (range.min_idle > Millis(0) && !at.entry().IsIdleSince(now - range.min_idle)) continue;
    entries.push_back(at.entry());
  }
  return entries;
}

void XPending(Call& call) {
  const std::string_view key = call.args.Word();
  const std::string_view name = call.args.Word();
  std::optional<PendingRange> range;
  if (!call.args.AtEnd()) range = TakePendingRange(call.args);
  const Stream* const stream = call.Find<Stream>(key);
  const ConsumerGroup* const group = stream == nullptr ? nullptr : stream->FindGroup(name);
  if (group == nullptr) call.args.Refuse(NoGroup(key, name));
  if (call.Refused()) return;
  if (!range) return ReplySummary(call.reply, *group);
  const std::vector<PendingEntry> entries = EntriesOf(*group, *range, call.now());
  call.reply.Array(entries.size());
  for (const PendingEntry& entry : entries) {
    call.reply.Array(4);
    ReplyStreamId(call.reply, entry.id);
    call.reply.Bulk(group->NameOf(entry));
    call.reply.Integer(
        entry.is_released() ? -1 : std::max(call.now() - entry.delivered, Millis(0)).count());
    call.reply.Integer(static_cast<int64_t>(entry.deliveries));
  }
}

constexpr Command kStreamPendingCommands[] = {
    {.name = "xack",
     .run = XAck,
     .arity = -4,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kStream,
     .since = "5.0.0",
     .usage = "key group id [id ...]",
     .summary = "Acknowledges pending entries of a consumer group, and returns their number.",
     .cost = "O(N*log(M)) for N IDs and M pending entries",
     .key_use = "RW update"},
    {.name = "xpending",
     .run = XPending,
     .arity = -3,
     .flags = kReadOnly,
     .keys = kOneKey,
     .group = CommandGroup::kStream,
     .since = "5.0.0",
     .usage = "key group [[IDLE min-idle-time] start end count [consumer]]",
     .summary = "Returns the pending entries of a consumer group, or a summary of them.",
     .cost = "O(N) for N entries visited; the summary O(C) for C consumers",
     .tips = "nondeterministic_output"},
};

}  // namespace

std::span<const Command> StreamPendingCommands() { return kStreamPendingCommands; }

}  // namespace zsetd
