// XDELEX and XACKDEL: deletions that consider the groups which refer to an entry.
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/stream/stream.h"
#include "server/commands/stream/entry_deletion.h"
#include "server/commands/stream/families.h"
#include "server/commands/stream/id_effects.h"
#include "server/commands/stream/stream_id_text.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

using Result = EntryDeletion::Result;

struct DeleteRequest {
  std::optional<References> references;
  std::vector<StreamId> ids;

  References policy() const { return references.value_or(References::kKeep); }
};

// Takes the IDs after IDS.
void TakeIdsOfReferences(ArgReader& args, std::vector<StreamId>& ids) {
  constexpr std::string_view kBadCount = "ERR Number of IDs must be a positive integer";
  const int64_t count = args.IntegerIn(1, INT64_MAX, kBadCount);
  if (!args.ok()) return;
  if (static_cast<uint64_t>(count) > args.left()) {
    return args.Refuse("ERR The `numids` parameter must match the number of arguments");
  }
  for (int64_t i = 0; i < count && args.ok(); ++i) ids.push_back(TakeStreamId(args));
}

// Takes [KEEPREF|DELREF|ACKED] IDS numids id [id ...], in any order.
DeleteRequest TakeDeleteRequest(ArgReader& args) {
  DeleteRequest request;
  while (args.ok() && !args.AtEnd()) {
    if (TakeReferences(args, request.references)) continue;
    if (request.ids.empty() && args.left() >= 2 && args.Take("ids")) {
      TakeIdsOfReferences(args, request.ids);
    } else {
      args.Refuse(kSyntaxError);
    }
  }
  if (request.ids.empty()) args.Refuse(kSyntaxError);
  return request;
}

void ReplyResult(ReplyWriter& reply, Result result) { reply.Integer(static_cast<int64_t>(result)); }

void ReplyAllMissing(ReplyWriter& reply, size_t count) {
  reply.Array(count);
  for (size_t i = 0; i < count; ++i) ReplyResult(reply, Result::kMissing);
}

// As documented, ACKED deletes nothing from a stream without groups.
void XDelEx(Call& call) {
  const std::string_view key = call.args.Word();
  const DeleteRequest request = TakeDeleteRequest(call.args);
  Edit<Stream> stream = call.Open<Stream>(key, KeyEvent::kNone);
  if (call.Refused()) return;
  if (!stream) return ReplyAllMissing(call.reply, request.ids.size());
  const bool needs_group = request.policy() == References::kForbid && stream->groups().empty();
  EntryDeletion deletion(*stream, request.policy());
  call.reply.Array(request.ids.size());
  for (const StreamId id : request.ids) {
    if (!stream->Contains(id)) {
      if (request.policy() == References::kRemove) deletion.RemoveReferences(id);
      ReplyResult(call.reply, Result::kMissing);
    } else {
      ReplyResult(call.reply, needs_group ? Result::kReferenced : deletion.Delete(id));
    }
  }
  if (!deletion.deleted().empty()) stream.ReportAs(KeyEvent::kXDel);
  call.MarkPropagated();
  deletion.End(call, key);
}

// An entry that is pending, but was deleted before, counts as deleted.
Result Reported(Result result) { return result == Result::kMissing ? Result::kDeleted : result; }

void XAckDel(Call& call) {
  const std::string_view key = call.args.Word();
  const std::string_view name = call.args.Word();
  const DeleteRequest request = TakeDeleteRequest(call.args);
  Edit<Stream> stream = call.Open<Stream>(key, KeyEvent::kNone);
  if (call.Refused()) return;
  ConsumerGroup* const group = stream ? stream->ChangeGroup(name) : nullptr;
  if (group == nullptr) return ReplyAllMissing(call.reply, request.ids.size());
  EntryDeletion deletion(*stream, request.policy());
  std::vector<StreamId> acknowledged;
  call.reply.Array(request.ids.size());
  for (const StreamId id : request.ids) {
    if (!group->Acknowledge(id)) {
      ReplyResult(call.reply, Result::kMissing);
      continue;
    }
    acknowledged.push_back(id);
    ReplyResult(call.reply, Reported(deletion.Delete(id)));
  }
  stream->CountChanges(acknowledged.size());
  if (!deletion.deleted().empty()) stream.ReportAs(KeyEvent::kXDel);
  call.MarkPropagated();
  PropagateIds(call, {"XACK", key, name}, acknowledged);
  deletion.End(call, key);
}

constexpr Command kStreamDeleteReferencesCommands[] = {
    {.name = "xdelex",
     .run = XDelEx,
     .arity = -5,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kStream,
     .since = "8.2.0",
     .usage = "key [KEEPREF|DELREF|ACKED] IDS numids id [id ...]",
     .summary = "Deletes entries of a stream, and considers the groups that refer to them.",
     .cost = "O(N*G*log(M)) for N IDs, G groups and M entries",
     .key_use = "RW delete"},
    {.name = "xackdel",
     .run = XAckDel,
     .arity = -6,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kStream,
     .since = "8.2.0",
     .usage = "key group [KEEPREF|DELREF|ACKED] IDS numids id [id ...]",
     .summary = "Acknowledges pending entries of a consumer group, and deletes them.",
     .cost = "O(N*G*log(M)) for N IDs, G groups and M entries",
     .key_use = "RW update delete"},
};

}  // namespace

std::span<const Command> StreamDeleteReferencesCommands() {
  return kStreamDeleteReferencesCommands;
}

}  // namespace zsetd
