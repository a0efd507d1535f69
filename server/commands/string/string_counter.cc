#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "core/keyspace/value.h"
#include "protocol/text/number_text.h"
#include "server/commands/string/families.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

constexpr int64_t kLeastInteger = std::numeric_limits<int64_t>::min();

// Returns the text of a string; "0" if it does not exist.
std::string_view TextOf(const Edit<ByteString>& string) { return string ? string.view() : "0"; }

void Store(Call& call, std::string_view key, Edit<ByteString>& string, std::string_view text,
           KeyEvent event) {
  if (string) return string.Assign(text);
  call.keys.Put(key, ByteString(text), event);
}

// As in Redis, the event is incrby for a decrement, too.
void AddInteger(Call& call, std::string_view key, int64_t increment) {
  constexpr KeyEvent kEvent = KeyEvent::kIncrBy;
  Edit<ByteString> string = call.Open<ByteString>(key, kEvent);
  const std::optional<int64_t> value = ParseInteger(TextOf(string));
  int64_t sum = 0;
  if (!value) {
    call.args.Refuse(kNotAnInteger);
  } else if (__builtin_add_overflow(*value, increment, &sum)) {
    call.args.Refuse("ERR increment or decrement would overflow");
  }
  if (call.Refused()) return;
  Store(call, key, string, IntegerText(sum), kEvent);
  call.reply.Integer(sum);
}

void Incr(Call& call) { AddInteger(call, call.args.Word(), 1); }
void Decr(Call& call) { AddInteger(call, call.args.Word(), -1); }

void IncrBy(Call& call) {
  const std::string_view key = call.args.Word();
  const int64_t increment = call.args.Integer();
  AddInteger(call, key, increment);
}

void DecrBy(Call& call) {
  const std::string_view key = call.args.Word();
  const int64_t decrement = call.args.Integer();
  if (decrement == kLeastInteger) call.args.Refuse("ERR decrement would overflow");
  AddInteger(call, key, call.args.ok() ? -decrement : 0);
}

// As in Redis, the key is checked before the increment.
void IncrByFloat(Call& call) {
  constexpr KeyEvent kEvent = KeyEvent::kIncrByFloat;
  const std::string_view key = call.args.Word();
  Edit<ByteString> string = call.Open<ByteString>(key, kEvent);
  const std::optional<long double> value = ParseLongDouble(TextOf(string));
  const std::optional<long double> increment = ParseLongDouble(call.args.Word());
  if (!value || !increment) {
    call.args.Refuse(kNotAFloat);
  } else if (!std::isfinite(*value + *increment)) {
    call.args.Refuse("ERR increment would produce NaN or Infinity");
  }
  if (call.Refused()) return;
  const std::string sum = LongDoubleText(*value + *increment);
  Store(call, key, string, sum, kEvent);
  call.Propagate({"SET", key, sum, "KEEPTTL"});
  call.reply.Bulk(sum);
}

constexpr uint32_t kFlags = kWrite | kDenyOom | kFast;

constexpr Command kStringCounterCommands[] = {
    {.name = "incr",
     .run = Incr,
     .arity = 2,
     .flags = kFlags,
     .keys = kOneKey,
     .group = CommandGroup::kString,
     .since = "1.0.0",
     .usage = "key",
     .summary = "Increments the integer value of a key by one (0 if it does not exist).",
     .cost = "O(1)"},
    {.name = "decr",
     .run = Decr,
     .arity = 2,
     .flags = kFlags,
     .keys = kOneKey,
     .group = CommandGroup::kString,
     .since = "1.0.0",
     .usage = "key",
     .summary = "Decrements the integer value of a key by one (0 if it does not exist).",
     .cost = "O(1)"},
    {.name = "incrby",
     .run = IncrBy,
     .arity = 3,
     .flags = kFlags,
     .keys = kOneKey,
     .group = CommandGroup::kString,
     .since = "1.0.0",
     .usage = "key increment",
     .summary = "Increments the integer value of a key (0 if it does not exist).",
     .cost = "O(1)"},
    {.name = "decrby",
     .run = DecrBy,
     .arity = 3,
     .flags = kFlags,
     .keys = kOneKey,
     .group = CommandGroup::kString,
     .since = "1.0.0",
     .usage = "key decrement",
     .summary = "Decrements the integer value of a key (0 if it does not exist).",
     .cost = "O(1)"},
    {.name = "incrbyfloat",
     .run = IncrByFloat,
     .arity = 3,
     .flags = kFlags,
     .keys = kOneKey,
     .group = CommandGroup::kString,
     .since = "2.6.0",
     .usage = "key increment",
     .summary = "Increments the floating-point value of a key (0 if it does not exist).",
     .cost = "O(1)"},
};

}  // namespace

std::span<const Command> StringCounterCommands() { return kStringCounterCommands; }

}  // namespace zsetd
