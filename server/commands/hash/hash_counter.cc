#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/hash/hash.h"
#include "protocol/text/number_text.h"
#include "server/commands/common/element_expiry.h"
#include "server/commands/hash/families.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

// Returns the text of a field; "0" if it does not exist.
std::string_view TextOf(const Edit<Hash>& hash, std::string_view name) {
  return hash ? hash->Get(name).value_or("0") : "0";
}

// Stores the new value. An incremented field keeps its deadline.
void Store(const Edit<Hash>& hash, std::string_view name, std::string_view text) {
  hash.Set(name, text, Hash::OldDeadline::kKeep);
}

void HIncrBy(Call& call) {
  const std::string_view key = call.args.Word();
  const std::string_view name = call.args.Word();
  const int64_t increment = call.args.Integer();
  const Edit<Hash> hash = call.OpenOrMake<Hash>(key, KeyEvent::kHIncrBy);
  const std::optional<int64_t> value = ParseInteger(TextOf(hash, name));
  int64_t sum = 0;
  if (!value) {
    call.args.Refuse("ERR hash value is not an integer");
  } else if (__builtin_add_overflow(*value, increment, &sum)) {
    call.args.Refuse("ERR increment or decrement would overflow");
  }
  if (call.Refused()) return;
  Store(hash, name, IntegerText(sum));
  call.reply.Integer(sum);
}

long double TakeIncrement(ArgReader& args) {
  const std::optional<long double> increment = ParseLongDouble(args.Word());
  if (!increment) args.Refuse(kNotAFloat);
  if (increment && !std::isfinite(*increment)) args.Refuse("ERR value is NaN or Infinity");
  return increment.value_or(0);
}

void HIncrByFloat(Call& call) {
  const std::string_view key = call.args.Word();
  const std::string_view name = call.args.Word();
  const long double increment = TakeIncrement(call.args);
  const Edit<Hash> hash = call.OpenOrMake<Hash>(key, KeyEvent::kHIncrByFloat);
  const std::optional<long double> value = ParseLongDouble(TextOf(hash, name));
  if (!value) {
    call.args.Refuse("ERR hash value is not a float");
  } else if (!std::isfinite(*value + increment)) {
    call.args.Refuse("ERR increment would produce NaN or Infinity");
  }
  if (call.Refused()) return;
  const std::string sum = LongDoubleText(*value + increment);
  Store(hash, name, sum);
  call.Propagate({"HSET", key, name, sum});
  const std::optional<Millis> deadline = hash->Deadline(name);
  if (deadline) PropagateElementDeadline(call, key, {name}, deadline, kFieldWords);
  call.reply.Bulk(sum);
}

constexpr Command kHashCounterCommands[] = {
    {.name = "hincrby",
     .run = HIncrBy,
     .arity = 4,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kHash,
     .since = "2.0.0",
     .usage = "key field increment",
     .summary = "Increments the integer value of a field (0 if it does not exist).",
     .cost = "O(1)"},
    {.name = "hincrbyfloat",
     .run = HIncrByFloat,
     .arity = 4,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kHash,
     .since = "2.6.0",
     .usage = "key field increment",
     .summary = "Increments the floating-point value of a field (0 if it does not exist).",
     .cost = "O(1)"},
};

}  // namespace

std::span<const Command> HashCounterCommands() { return kHashCounterCommands; }

}  // namespace zsetd
