#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/stream/stream.h"
#include "server/commands/stream/families.h"
#include "server/commands/stream/stream_id_text.h"
#include "server/commands/stream/stream_reply.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

void XLen(Call& call) {
  const Stream* const stream = call.Find<Stream>(call.args.Word());
  if (call.Refused()) return;
  call.reply.Integer(stream == nullptr ? 0 : static_cast<int64_t>(stream->size()));
}

// COUNT; negative: not given. A negative count is taken as 0.
int64_t TakeCountOption(ArgReader& args) {
  int64_t count = -1;
  while (args.ok() && !args.AtEnd()) {
    if (args.left() < 2 || !args.Take("count")) {
      args.Refuse(kSyntaxError);
    } else {
      count = std::max<int64_t>(args.Integer(), 0);
    }
  }
  return count;
}

// The start is parsed before the end, also where it follows.
void Range(Call& call, bool backward) {
  const std::string_view key = call.args.Word();
  const Args bounds = call.args.Next(2);
  ArgReader start(bounds, backward ? 1 : 0);
  ArgReader end(bounds, backward ? 0 : 1);
  const StreamId first = TakeRangeStart(start);
  const StreamId last = TakeRangeEnd(end);
  if (!start.ok()) call.args.Refuse(start.status());
  if (!end.ok()) call.args.Refuse(end.status());
  const int64_t count = TakeCountOption(call.args);
  const Stream* const stream = call.Find<Stream>(key);
  if (call.Refused()) return;
  if (stream == nullptr) return call.reply.Array(0);
  if (count == 0) return call.reply.NullArray();
  const uint64_t most = count < 0 ? UINT64_MAX : static_cast<uint64_t>(count);
  ReplyEntriesAtLength(call, key, *stream,
                       {.first = first, .last = last, .most = most, .backward = backward});
}

void XRange(Call& call) { Range(call, /*backward=*/false); }
void XRevRange(Call& call) { Range(call, /*backward=*/true); }

constexpr Command kStreamRangeCommands[] = {
    {.name = "xlen",
     .run = XLen,
     .arity = 2,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kStream,
     .since = "5.0.0",
     .usage = "key",
     .summary = "Returns the number of entries of a stream.",
     .cost = "O(1)",
     .key_use = "RO"},
    {.name = "xrange",
     .run = XRange,
     .arity = -4,
     .flags = kReadOnly,
     .keys = kOneKey,
     .group = CommandGroup::kStream,
     .since = "5.0.0",
     .usage = "key start end [COUNT count]",
     .summary = "Returns the entries of a stream in a range of IDs.",
     .cost = "O(log(N)+M) for N entries and M of them returned"},
    {.name = "xrevrange",
     .run = XRevRange,
     .arity = -4,
     .flags = kReadOnly,
     .keys = kOneKey,
     .group = CommandGroup::kStream,
     .since = "5.0.0",
     .usage = "key end start [COUNT count]",
     .summary = "Returns the entries of a stream in a range of IDs, the latest first.",
     .cost = "O(log(N)+M) for N entries and M of them returned"},
};

}  // namespace

std::span<const Command> StreamRangeCommands() { return kStreamRangeCommands; }

}  // namespace zsetd
