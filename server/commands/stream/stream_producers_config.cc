// XCFGSET and XIDMPRECORD: the limits of producers' IDs, and a mark that is replayed.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/stream/stream.h"
#include "server/commands/stream/families.h"
#include "server/commands/stream/producer_mark.h"
#include "server/commands/stream/stream_id_text.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

uint64_t TakeLimit(ArgReader& args, std::string_view name, uint64_t most) {
  const int64_t limit = args.Integer();
  if (args.ok() && (limit < 1 || static_cast<uint64_t>(limit) > most)) {
    args.Refuse("ERR " + std::string(name) + " must be between 1 and " + std::to_string(most));
  }
  return static_cast<uint64_t>(limit);
}

void XCfgSet(Call& call) {
  ArgReader& args = call.args;
  const std::string_view key = args.Word();
  if (args.ok() && args.AtEnd()) {
    args.Refuse("ERR At least one parameter must be specified for XCFGSET");
  }
  std::optional<uint64_t> seconds, ids;
  while (args.ok() && !args.AtEnd()) {
    if (args.left() >= 2 && args.Take("idmp-duration")) {
      seconds = TakeLimit(args, "IDMP-DURATION", Producers::kMostSeconds);
    } else if (args.left() >= 2 && args.Take("idmp-maxsize")) {
      ids = TakeLimit(args, "IDMP-MAXSIZE", Producers::kMostIds);
    } else {
      args.Refuse(kSyntaxError);
    }
  }
  const Edit<Stream> stream = call.Open<Stream>(key, KeyEvent::kNone);
  if (!stream) args.Refuse(kNoSuchKey);
  if (call.Refused()) return;
  Producers& producers = stream.ChangeProducers();
  Producers::Limits limits = producers.limits();
  limits.seconds = seconds.value_or(limits.seconds);
  limits.ids = ids.value_or(limits.ids);
  producers.SetLimits(limits);
  stream->CountChanges(1);
  call.reply.Ok();
  PropagateMarkLimits(call, key, limits);
}

// The reason why the producer cannot have that mark; empty if it can. A log or a master may have
// trimmed the entry.
std::string_view ReasonAgainstRecord(const Call& call, const Stream& stream, StreamId entry,
                                     std::optional<StreamId> known) {
  if (known) return *known == entry ? "" : "ERR The idempotent ID belongs to another stream ID";
  if (call.keys.applies_effects() || stream.Contains(entry)) return {};
  return "ERR The stream ID does not exist";
}

void XIdmpRecord(Call& call) {
  const std::string_view key = call.args.Word();
  const std::string_view producer = call.args.Word();
  const std::string_view id = call.args.Word();
  const StreamId entry = TakeStreamId(call.args);
  if (producer.empty()) call.args.Refuse("ERR IDMP requires a non-empty producer ID");
  if (id.empty()) call.args.Refuse("ERR IDMP requires a non-empty idempotent ID");
  const Edit<Stream> stream = call.Open<Stream>(key, KeyEvent::kNone);
  if (!stream) call.args.Refuse(kNoSuchKey);
  if (call.Refused()) return;
  const Producers* const producers = stream->producers();
  const std::optional<StreamId> known =
      producers == nullptr ? std::nullopt : producers->Find(producer, id, call.now());
  const std::string_view reason = ReasonAgainstRecord(call, *stream, entry, known);
  if (!reason.empty()) return call.Fail(reason);
  call.reply.Ok();
  if (known) return;
  if (producers == nullptr) {
    PropagateMarkLimits(call, key, stream.ChangeProducers().limits());
  }
  stream->ChangeProducers().Add(producer, id, entry, call.now());
  stream->CountChanges(1);
  call.PropagatePrivate(call.argv());
}

constexpr Command kStreamProducersConfigCommands[] = {
    {.name = "xcfgset",
     .run = XCfgSet,
     .arity = -2,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kStream,
     .since = "8.6.0",
     .usage = "key [IDMP-DURATION idmp-duration] [IDMP-MAXSIZE idmp-maxsize]",
     .summary = "Sets for how long, and how many of them, a stream keeps the IDs of producers.",
     .cost = "O(1); O(N) for N IDs if they are forgotten",
     .key_use = "RW update"},
    {.name = "xidmprecord",
     .run = XIdmpRecord,
     .arity = 5,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kStream,
     .since = "8.8.0",
     .usage = "key pid iid stream-id",
     .summary = "Marks an entry with the ID of a producer; used by logs and masters.",
     .cost = "O(log(N)) for N producers",
     .key_use = "RW update"},
};

}  // namespace

std::span<const Command> StreamProducersConfigCommands() { return kStreamProducersConfigCommands; }

}  // namespace zsetd
