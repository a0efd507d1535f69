#include <cassert>
#include <optional>
#include <string>
#include <string_view>

#include "core/keyspace/value.h"
#include "server/commands/common/index_range.h"
#include "server/commands/string/families.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

constexpr KeyEvent kSetRangeEvent = KeyEvent::kSetRange;

// Refuses a string that would be longer than the longest argument.
void CheckLength(Call& call, size_t offset, size_t bytes) {
  const size_t most = call.keys.most_string_bytes();
  if (bytes <= most && offset <= most - bytes) return;
  call.args.Refuse("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
}

void Append(Call& call) {
  const std::string_view key = call.args.Word();
  const std::string_view bytes = call.args.Word();
  Edit<ByteString> string = call.Open<ByteString>(key, KeyEvent::kAppend);
  const size_t length = string ? string.view().size() : 0;
  CheckLength(call, length, bytes.size());
  if (call.Refused()) return;
  if (string) {
    string.Append(bytes);
  } else {
    call.keys.Put(key, ByteString(bytes), KeyEvent::kAppend);
  }
  call.reply.Integer(static_cast<int64_t>(length + bytes.size()));
}

void GetRange(Call& call) {
  const std::string_view key = call.args.Word();
  const IndexRange range = TakeIndexRange(call.args);
  const std::optional<ByteString> string = call.Find<ByteString>(key);
  if (call.Refused()) return;
  if (!string || range.IsTurnedAround()) return call.reply.Bulk("");
  const std::string_view bytes = string->view();
  const RankRange part = range.WithinString(bytes.size());
  call.reply.Bulk(bytes.substr(part.first, part.size()));
}

// Returns the string's new length.
size_t WritePiece(Call& call, std::string_view key, Edit<ByteString>& string, size_t offset,
                  std::string_view piece) {
  assert(!piece.empty());
  if (string) {
    string.Overwrite(offset, piece);
    return string.view().size();
  }
  const std::string padded = std::string(offset, '\0').append(piece);
  call.keys.Put(key, ByteString(padded, true), kSetRangeEvent);
  return offset + piece.size();
}

// An empty piece changes nothing, regardless of the offset.
void SetRange(Call& call) {
  const std::string_view key = call.args.Word();
  const int64_t offset = call.args.Integer();
  const std::string_view piece = call.args.Word();
  if (offset < 0) call.args.Refuse("ERR offset is out of range");
  Edit<ByteString> string = call.Open<ByteString>(key, kSetRangeEvent);
  if (!piece.empty()) CheckLength(call, offset, piece.size());
  if (call.Refused()) return;
  size_t length = string ? string.view().size() : 0;
  if (!piece.empty()) length = WritePiece(call, key, string, offset, piece);
  call.reply.Integer(static_cast<int64_t>(length));
}

constexpr Command kStringRangeCommands[] = {
    {.name = "append",
     .run = Append,
     .arity = 3,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kString,
     .since = "2.0.0",
     .usage = "key value",
     .summary = "Appends to a string, creating it if needed.",
     .cost = "O(N) for N bytes added, amortised",
     .key_use = "RW insert"},
    {.name = "getrange",
     .run = GetRange,
     .arity = 4,
     .flags = kReadOnly,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kString,
     .since = "2.4.0",
     .usage = "key start end",
     .summary = "Returns a substring; negative offsets count from the end.",
     .cost = "O(N) for N bytes returned"},
    {.name = "substr",
     .run = GetRange,
     .arity = 4,
     .flags = kReadOnly,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kString,
     .since = "1.0.0",
     .usage = "key start end",
     .summary = "Deprecated alias of GETRANGE.",
     .cost = "O(N) for N bytes returned"},
    {.name = "setrange",
     .run = SetRange,
     .arity = 4,
     .flags = kWrite | kDenyOom,
     .keys = kOneKey,
     .group = CommandGroup::kString,
     .since = "2.2.0",
     .usage = "key offset value",
     .summary = "Overwrites part of a string, padding with zero bytes as needed.",
     .cost = "O(N) for N bytes written or added",
     .key_use = "RW update"},
};

}  // namespace

std::span<const Command> StringRangeCommands() { return kStringRangeCommands; }

}  // namespace zsetd
