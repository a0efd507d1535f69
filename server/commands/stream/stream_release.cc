// XNACK: a consumer gives entries back to its group, which delivers them again.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/stream/stream.h"
#include "protocol/text/number_text.h"
#include "server/commands/stream/claim_effects.h"
#include "server/commands/stream/families.h"
#include "server/commands/stream/stream_id_text.h"
#include "server/commands/stream/stream_reply.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

// How the number of deliveries changes.
enum class Mode {
  kSilent,  // the delivery does not count
  kFail,    // it counts
  kFatal,   // the number becomes the greatest one
};

struct ReleaseRequest {
  std::string_view key;
  std::string_view group;
  Mode mode = Mode::kFail;
  std::vector<StreamId> ids;
  std::optional<uint64_t> deliveries;  // RETRYCOUNT
  bool force = false;
};

Mode TakeMode(ArgReader& args) {
  if (args.Take("silent")) return Mode::kSilent;
  if (args.Take("fail")) return Mode::kFail;
  if (args.Take("fatal")) return Mode::kFatal;
  args.Refuse("ERR mode must be SILENT, FAIL, or FATAL");
  return Mode::kFail;
}

// Takes the IDs after IDS.
std::vector<StreamId> TakeCountedIds(ArgReader& args) {
  const int64_t count = args.IntegerIn(1, INT64_MAX, "ERR numids must be a positive integer");
  std::vector<StreamId> ids;
  if (args.ok() && static_cast<uint64_t>(count) > args.left()) {
    args.Refuse("ERR number of IDs doesn't match numids");
  }
  for (int64_t i = 0; i < count && args.ok(); ++i) ids.push_back(TakeStreamId(args));
  return ids;
}

ReleaseRequest TakeReleaseRequest(ArgReader& args) {
  ReleaseRequest request;
  request.key = args.Word();
  request.group = args.Word();
  request.mode = TakeMode(args);
  while (args.ok() && !args.AtEnd()) {
    const bool has_value = args.left() >= 2;
    if (has_value && request.ids.empty() && args.Take("ids")) {
      request.ids = TakeCountedIds(args);
    } else if (has_value && args.Take("retrycount")) {
      const int64_t count = args.Integer();
      if (count < 0) args.Refuse("ERR Invalid RETRYCOUNT value, must be >= 0");
      request.deliveries = static_cast<uint64_t>(count);
    } else if (args.Take("force")) {
      request.force = true;
    } else {
      args.Refuse("ERR Unrecognized XNACK option " + Quoted(args.Peek()));
    }
  }
  if (request.ids.empty()) args.Refuse("ERR syntax error, expected IDS keyword");
  return request;
}

uint64_t DeliveriesAfter(const ReleaseRequest& request, uint64_t before) {
  if (request.deliveries) return *request.deliveries;
  if (request.mode == Mode::kFatal) return INT64_MAX;
  return before - (request.mode == Mode::kSilent && before > 0);
}

// The effect of a release is XCLAIM, which only takes entries that the stream has. Other servers
// keep the consumer of a deleted entry.
void PropagateRelease(Call& call, const ReleaseRequest& request, StreamId id, uint64_t deliveries) {
  if (!call.Propagates()) return;
  const std::string id_text = StreamIdText(id);
  const std::string count = IntegerText(static_cast<int64_t>(deliveries));
  const std::vector<std::string_view> words = {"XNACK", request.key, request.group, "FAIL", "IDS",
                                               "1",     id_text,     "RETRYCOUNT",  count};
  call.PropagatePrivate(words);
}

// Releases the entry. Returns whether it is pending, or became so with FORCE.
bool Release(Call& call, const ReleaseRequest& request, const Stream& stream, ConsumerGroup& group,
             StreamId id, ClaimEffects& effects) {
  const std::optional<PendingEntry> entry = group.pending().Find(id);
  const bool exists = stream.Contains(id);
  if (!entry && !(request.force && exists)) return false;
  const uint64_t deliveries = DeliveriesAfter(request, entry ? entry->deliveries : 0);
  group.Release(id, deliveries);
  if (exists) {
    effects.Add(id, Millis(0), deliveries);
  } else {
    PropagateRelease(call, request, id, deliveries);
  }
  return true;
}

void XNack(Call& call) {
  const ReleaseRequest request = TakeReleaseRequest(call.args);
  const Edit<Stream> stream = call.Open<Stream>(request.key, KeyEvent::kNone);
  ConsumerGroup* const group = stream ? stream->ChangeGroup(request.group) : nullptr;
  if (group == nullptr) call.args.Refuse(NoGroup(request.key, request.group));
  if (call.Refused()) return;
  ClaimEffects effects(call, request.key, request.group, *group, /*consumer=*/"");
  size_t released = 0;
  for (const StreamId id : request.ids) {
    released += Release(call, request, *stream, *group, id, effects);
  }
  stream->CountChanges(released);
  call.reply.Integer(static_cast<int64_t>(released));
  call.MarkPropagated();
  effects.Flush();
}

constexpr Command kStreamReleaseCommands[] = {
    {.name = "xnack",
     .run = XNack,
     .arity = -7,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kStream,
     .since = "8.8.0",
     .usage = "key group <SILENT|FAIL|FATAL> IDS numids id [id ...] [RETRYCOUNT count] [FORCE]",
     .summary = "Takes pending entries away from their consumers, so that others can claim them.",
     .cost = "O(N*log(M)) for N IDs and M pending entries",
     .key_use = "RW update"},
};

}  // namespace

std::span<const Command> StreamReleaseCommands() { return kStreamReleaseCommands; }

}  // namespace zsetd
