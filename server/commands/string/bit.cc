// Strings as sequences of bits: SETBIT, GETBIT, BITCOUNT, BITPOS.
#include <cassert>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "core/sorted_set/sorted_set.h"
#include "core/string/bits.h"
#include "server/commands/common/index_range.h"
#include "server/commands/string/bit_position.h"
#include "server/commands/string/families.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

constexpr KeyEvent kSetBitEvent = KeyEvent::kSetBit;

void SetBitCommand(Call& call) {
  const std::string_view key = call.args.Word();
  const uint64_t position = TakeBitPosition(call);
  const bool bit = call.args.IntegerIn(0, 1, "ERR bit is not an integer or out of range") == 1;
  Edit<ByteString> string = call.Open<ByteString>(key, kSetBitEvent);
  if (call.Refused()) return;
  if (!string) string = call.keys.Make<ByteString>(key, kSetBitEvent);
  const bool old = BitAt(string.view(), position);
  const ByteRange range = {.begin = position / 8, .end = position / 8 + 1};
  const bool grows = string.view().size() < range.end;
  string.Rewrite({&range, 1}, [&](std::span<char> bytes) {
    assert(position / 8 < bytes.size());
    SetBit(bytes, position, bit);
    return bit != old || grows ? 1 : 0;
  });
  call.reply.Integer(old);
}

void GetBit(Call& call) {
  const std::string_view key = call.args.Word();
  const uint64_t position = TakeBitPosition(call);
  const std::optional<ByteString> string = call.Find<ByteString>(key);
  if (call.Refused()) return;
  call.reply.Integer(string && BitAt(string->view(), position));
}

// Takes BYTE or BIT if there is another argument. Returns whether it is BIT.
bool TakeIsInBits(ArgReader& args) {
  if (args.AtEnd() || args.Take("byte")) return false;
  if (!args.Take("bit")) args.Refuse(kSyntaxError);
  return true;
}

// The bits of the range in a string of `bytes` bytes.
RankRange Bits(const IndexRange& range, bool in_bits, size_t bytes) {
  if (in_bits) return range.WithinString(8 * bytes);
  const RankRange part = range.WithinString(bytes);
  return {.first = 8 * part.first, .last = 8 * part.last};
}

constexpr IndexRange kWhole = {.start = 0, .stop = -1};

void BitCount(Call& call) {
  const std::string_view key = call.args.Word();
  if (call.args.left() == 1 || call.args.left() > 3) call.args.Refuse(kSyntaxError);
  const IndexRange range = call.args.AtEnd() ? kWhole : TakeIndexRange(call.args);
  const bool in_bits = TakeIsInBits(call.args);
  const std::optional<ByteString> string = call.Find<ByteString>(key);
  if (call.Refused()) return;
  if (!string || range.IsTurnedAround()) return call.reply.Integer(0);
  const std::string_view bytes = string->view();
  const uint64_t count = CountBits(bytes, Bits(range, in_bits, bytes.size()));
  call.reply.Integer(static_cast<int64_t>(count));
}

struct BitSearch {
  bool bit = false;
  IndexRange range = kWhole;
  bool in_bits = false;
  bool ends_with_string = true;  // false: infinitely many zero bits follow the string
};

// Takes "bit [start [end [BYTE|BIT]]]". As in Redis, the unit is checked before the end is parsed.
BitSearch TakeBitSearch(ArgReader& args) {
  BitSearch search;
  const int64_t bit = args.Integer();
  if (args.ok() && bit != 0 && bit != 1) args.Refuse("ERR The bit argument must be 1 or 0.");
  search.bit = bit == 1;
  if (args.left() > 3) args.Refuse(kSyntaxError);
  if (!args.AtEnd()) search.range.start = args.Integer();
  search.ends_with_string = !args.AtEnd();
  if (args.AtEnd()) return search;
  ArgReader end = args;
  args.Word();
  search.in_bits = TakeIsInBits(args);
  search.range.stop = end.Integer();
  args.Refuse(end.status());
  return search;
}

// A key that does not exist is an infinite string of zero bits.
void BitPos(Call& call) {
  const std::string_view key = call.args.Word();
  const BitSearch search = TakeBitSearch(call.args);
  const std::optional<ByteString> string = call.Find<ByteString>(key);
  if (call.Refused()) return;
  if (!string) return call.reply.Integer(search.bit ? -1 : 0);
  const std::string_view bytes = string->view();
  const RankRange range = Bits(search.range, search.in_bits, bytes.size());
  const std::optional<uint64_t> found = FindBit(bytes, search.bit, range);
  const bool goes_on = !search.bit && !search.ends_with_string && !range.empty();
  const int64_t none = goes_on ? static_cast<int64_t>(8 * bytes.size()) : -1;
  call.reply.Integer(found ? static_cast<int64_t>(*found) : none);
}

constexpr Command kBitCommands[] = {
    {.name = "setbit",
     .run = SetBitCommand,
     .arity = 4,
     .flags = kWrite | kDenyOom,
     .keys = kOneKey,
     .group = CommandGroup::kBitmap,
     .since = "2.2.0",
     .usage = "key offset value",
     .summary = "Sets or clears the bit at an offset; returns its old value.",
     .cost = "O(1), and O(N) for N bytes that the string grows"},
    {.name = "getbit",
     .run = GetBit,
     .arity = 3,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kBitmap,
     .since = "2.2.0",
     .usage = "key offset",
     .summary = "Returns the bit at an offset.",
     .cost = "O(1)"},
    {.name = "bitcount",
     .run = BitCount,
     .arity = -2,
     .flags = kReadOnly,
     .keys = kOneKey,
     .group = CommandGroup::kBitmap,
     .since = "2.6.0",
     .usage = "key [start end [BYTE|BIT]]",
     .summary = "Counts the set bits in a string.",
     .cost = "O(N) for N bytes examined"},
    {.name = "bitpos",
     .run = BitPos,
     .arity = -3,
     .flags = kReadOnly,
     .keys = kOneKey,
     .group = CommandGroup::kBitmap,
     .since = "2.8.7",
     .usage = "key bit [start [end [BYTE|BIT]]]",
     .summary = "Finds the first bit set to 0 or 1.",
     .cost = "O(N) for N bytes examined"},
};

}  // namespace

std::span<const Command> BitCommands() { return kBitCommands; }

}  // namespace zsetd
