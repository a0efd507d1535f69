#include <cstdint>
#include <string_view>
#include <vector>

#include "core/stream/stream.h"
#include "server/commands/stream/families.h"
#include "server/commands/stream/stream_id_text.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

// As in Redis, the IDs are not parsed if the stream does not exist.
void XDel(Call& call) {
  const Edit<Stream> stream = call.Open<Stream>(call.args.Word(), KeyEvent::kXDel);
  if (!stream && call.args.ok()) return call.reply.Integer(0);
  std::vector<StreamId> ids;
  while (call.args.ok() && !call.args.AtEnd()) ids.push_back(TakeStreamId(call.args));
  if (call.Refused()) return;
  int64_t deleted = 0;
  for (const StreamId id : ids) deleted += stream->Delete(id);
  call.reply.Integer(deleted);
}

struct SetIdRequest {
  std::string_view key;
  StreamId last_id;
  int64_t entries_added = -1;  // -1: not given
  StreamId max_deleted_id;     // 0-0: not given
};

SetIdRequest TakeSetIdRequest(ArgReader& args) {
  SetIdRequest request;
  request.key = args.Word();
  request.last_id = TakeStreamId(args);
  while (args.ok() && !args.AtEnd()) {
    if (args.left() >= 2 && args.Take("entriesadded")) {
      request.entries_added = args.Integer();
      if (request.entries_added < 0) args.Refuse("ERR entries_added must be positive");
    } else if (args.left() >= 2 && args.Take("maxdeletedid")) {
      request.max_deleted_id = TakeStreamId(args);
      if (request.last_id < request.max_deleted_id) {
        args.Refuse(
            "ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id");
      }
    } else {
      args.Refuse(kSyntaxError);
    }
  }
  return request;
}

// The reason why the stream cannot have that state; empty if it can. Redis 7.0, which may have
// propagated the request, does not check the deleted IDs.
std::string_view ReasonAgainstDelete(const Call& call, const Stream& stream,
                                     const SetIdRequest& request) {
  if (request.last_id < stream.state().max_deleted_id && !call.keys.applies_effects()) {
    return "ERR The ID specified in XSETID is smaller than current max_deleted_entry_id";
  }
  if (stream.size() == 0) return {};
  if (request.last_id < *stream.LastEntryId()) {
    return "ERR The ID specified in XSETID is smaller than the target stream top item";
  }
  if (request.entries_added >= 0 && static_cast<uint64_t>(request.entries_added) < stream.size()) {
    return "ERR The entries_added specified in XSETID is smaller than the target stream length";
  }
  return {};
}

// As in Redis, the same ID again counts as a change, too.
void XSetId(Call& call) {
  const SetIdRequest request = TakeSetIdRequest(call.args);
  const Edit<Stream> stream = call.Open<Stream>(request.key, KeyEvent::kXSetId);
  if (!stream) call.args.Refuse(kNoSuchKey);
  if (call.Refused()) return;
  const std::string_view reason = ReasonAgainstDelete(call, *stream, request);
  if (!reason.empty()) return call.Fail(reason);
  StreamState state = stream->state();
  state.last_id = request.last_id;
  if (request.entries_added >= 0)
    state.entries_added = static_cast<uint64_t>(request.entries_added);
  if (request.max_deleted_id != StreamId()) state.max_deleted_id = request.max_deleted_id;
  if (state == stream->state()) stream->CountChanges(1);
  stream->SetState(state);
  call.reply.Ok();
}

constexpr Command kStreamDeleteCommands[] = {
    {.name = "xdel",
     .run = XDel,
     .arity = -3,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kStream,
     .since = "5.0.0",
     .usage = "key id [id ...]",
     .summary = "Deletes entries of a stream, and returns their number.",
     .cost = "O(N*log(M)) for N IDs and M entries",
     .key_use = "RW delete"},
    {.name = "xsetid",
     .run = XSetId,
     .arity = -3,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kStream,
     .since = "5.0.0",
     .usage = "key last-id [ENTRIESADDED entries-added] [MAXDELETEDID max-deleted-id]",
     .summary = "Sets the last ID of a stream.",
     .cost = "O(1)",
     .key_use = "RW update"},
};

}  // namespace

std::span<const Command> StreamDeleteCommands() { return kStreamDeleteCommands; }

}  // namespace zsetd
