// XREAD: entries of several streams after given IDs, now or when they are added.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/stream/stream.h"
#include "server/commands/stream/families.h"
#include "server/commands/stream/read_request.h"
#include "server/commands/stream/stream_id_text.h"
#include "server/commands/stream/stream_reply.h"
#include "server/engine/call.h"
#include "server/engine/client/stream_wait.h"

namespace zsetd {
namespace {

// A stream of the request, which may not exist.
struct Wanted {
  std::string_view key;
  const Stream* stream = nullptr;
  StreamId after;

  bool HasEntries() const {
    return stream != nullptr && stream->size() > 0 && *stream->LastEntryId() > after;
  }
};

StreamId AfterOf(Call& call, std::string_view id, const Stream* stream) {
  if (id == "$") return stream == nullptr ? kFirstStreamId : stream->last_id();
  if (id == ">") {
    call.args.Refuse(
        "ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> "
        "<consumer> option.");
  }
  const std::optional<StreamId> after = ParseStreamId(id);
  if (!after) call.args.Refuse(kInvalidStreamId);
  return after.value_or(kFirstStreamId);
}

std::vector<Wanted> FindStreams(Call& call, const ReadRequest& request) {
  std::vector<Wanted> streams;
  streams.reserve(request.keys.size());
  for (size_t i = 0; i < request.keys.size() && call.args.ok(); ++i) {
    const Stream* const stream = call.Find<Stream>(request.keys[i]);
    if (!call.args.ok()) break;
    streams.push_back({request.keys[i], stream, AfterOf(call, request.ids[i], stream)});
  }
  return streams;
}

// Waits for entries after the IDs as they are now: "$" is replaced.
bool WaitForNew(Call& call, const ReadRequest& request, const std::vector<Wanted>& streams) {
  std::vector<StreamWait::Position> positions;
  std::vector<std::string> ids;
  std::vector<std::string_view> again(call.argv().begin(), call.argv().end());
  ids.reserve(streams.size());
  for (size_t i = 0; i < streams.size(); ++i) {
    positions.push_back({std::string(streams[i].key), streams[i].after});
    ids.push_back(StreamIdText(streams[i].after));
    again[again.size() - streams.size() + i] = ids.back();
  }
  auto wait = std::make_unique<StreamWait>(std::move(positions), std::nullopt);
  return call.WaitForEntries(request.keys, again, wait, *request.block);
}

void XRead(Call& call) {
  const ReadRequest request = TakeReadRequest(call, /*in_group=*/false);
  const std::vector<Wanted> streams = FindStreams(call, request);
  if (call.Refused()) return;
  std::vector<Wanted> served;
  for (const Wanted& wanted : streams) {
    if (call.MayServe(wanted.key) && wanted.HasEntries()) served.push_back(wanted);
  }
  if (served.empty()) {
    if (!request.block || !WaitForNew(call, request, streams)) call.reply.NullArray();
    return;
  }
  ReplyStreams(call.reply, served.size());
  for (const Wanted& wanted : served) {
    ReplyStreamKey(call.reply, wanted.key);
    const StreamRange range = {.first = *wanted.after.Next(), .most = MostEntries(call, request)};
    if (&wanted == &served.back()) {
      ReplyEntriesAtLength(call, wanted.key, *wanted.stream, range);
    } else {
      ReplyEntries(call.reply, *wanted.stream, range);
    }
  }
}

constexpr Command kStreamReadCommands[] = {
    {.name = "xread",
     .run = XRead,
     .arity = -4,
     .flags = kReadOnly | kBlocking | kMovableKeys,
     .keys = kReadKeys,
     .group = CommandGroup::kStream,
     .since = "5.0.0",
     .usage = "[COUNT count] [BLOCK milliseconds] STREAMS key [key ...] id [id ...]",
     .summary = "Returns the entries of streams after the given IDs; can block until there are "
                "some.",
     .cost = "O(N*log(M)+K) for N streams of M entries and K entries returned"},
};

}  // namespace

std::span<const Command> StreamReadCommands() { return kStreamReadCommands; }

}  // namespace zsetd
