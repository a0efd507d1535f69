#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/text/number_text.h"
#include "server/commands/common/expiry_option.h"
#include "server/commands/key/families.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

// A condition on the current deadline of a key.
struct ExpireRule {
  bool none = false;    // NX: no deadline
  bool some = false;    // XX: there is a deadline
  bool sooner = false;  // GT: the current deadline is sooner than the new one
  bool later = false;   // LT: the current deadline is later; a key without one always is
};

ExpireRule TakeExpireRule(ArgReader& args) {
  ExpireRule rule;
  while (args.ok() && !args.AtEnd()) {
    if (args.Take("nx")) {
      rule.none = true;
    } else if (args.Take("xx")) {
      rule.some = true;
    } else if (args.Take("gt")) {
      rule.sooner = true;
    } else if (args.Take("lt")) {
      rule.later = true;
    } else {
      args.Refuse("ERR Unsupported option " + std::string(args.Peek()));
    }
  }
  if (rule.none && (rule.some || rule.sooner || rule.later)) {
    args.Refuse("ERR NX and XX, GT or LT options at the same time are not compatible");
  }
  if (rule.sooner && rule.later) {
    args.Refuse("ERR GT and LT options at the same time are not compatible");
  }
  return rule;
}

bool Allows(const ExpireRule& rule, std::optional<Millis> present, Millis deadline) {
  if (rule.none && present) return false;
  if (rule.some && !present) return false;
  if (rule.sooner && (!present || *present >= deadline)) return false;
  return !rule.later || !present || *present > deadline;
}

Millis ReadDeadline(Call& call, std::string_view amount, Millis origin, Millis unit) {
  const std::optional<int64_t> number = ParseInteger(amount);
  if (!number) call.args.Refuse(kNotAnInteger);
  const std::optional<Millis> deadline = CheckedDeadline(origin, number.value_or(0), unit);
  if (!deadline) RefuseExpiry(call);
  return deadline.value_or(kEpoch);
}

// Sets the deadline of a key to `origin` plus the argument's number of units. Replies 0 if the key
// does not exist or the rule does not allow it.
void SetDeadline(Call& call, Millis origin, Millis unit) {
  const std::string_view key = call.args.Word();
  const std::string_view amount = call.args.Word();
  const ExpireRule rule = TakeExpireRule(call.args);
  const Millis deadline = ReadDeadline(call, amount, origin, unit);
  if (call.Refused()) return;
  Entry* entry = call.keys.Open(key);
  const bool allowed = entry != nullptr && Allows(rule, entry->deadline(), deadline);
  if (allowed) {
    call.keys.ExpireAt(*entry, deadline);
    PropagateDeadline(call, key, deadline);
  }
  call.reply.Integer(allowed);
}

void Expire(Call& call) { SetDeadline(call, call.now(), kSecond); }
void PExpire(Call& call) { SetDeadline(call, call.now(), kMilli); }
void ExpireAt(Call& call) { SetDeadline(call, kEpoch, kSecond); }
void PExpireAt(Call& call) { SetDeadline(call, kEpoch, kMilli); }

void Persist(Call& call) {
  Entry* entry = call.keys.Open(call.args.Word());
  call.reply.Integer(entry != nullptr && call.keys.Persist(*entry));
}

constexpr Command kKeyExpireCommands[] = {
    {.name = "expire",
     .run = Expire,
     .arity = -3,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kGeneric,
     .since = "1.0.0",
     .usage = "key seconds [NX|XX|GT|LT]",
     .summary = "Sets the time to live of a key, in seconds.",
     .cost = "O(log(N)) for N keys with an expiration",
     .key_use = "RW update"},
    {.name = "pexpire",
     .run = PExpire,
     .arity = -3,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kGeneric,
     .since = "2.6.0",
     .usage = "key milliseconds [NX|XX|GT|LT]",
     .summary = "Sets the time to live of a key, in milliseconds.",
     .cost = "O(log(N)) for N keys with an expiration",
     .key_use = "RW update"},
    {.name = "expireat",
     .run = ExpireAt,
     .arity = -3,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kGeneric,
     .since = "1.2.0",
     .usage = "key unix-time-seconds [NX|XX|GT|LT]",
     .summary = "Sets the expiration time of a key, as Unix time in seconds.",
     .cost = "O(log(N)) for N keys with an expiration",
     .key_use = "RW update"},
    {.name = "pexpireat",
     .run = PExpireAt,
     .arity = -3,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kGeneric,
     .since = "2.6.0",
     .usage = "key unix-time-milliseconds [NX|XX|GT|LT]",
     .summary = "Sets the expiration time of a key, as Unix time in milliseconds.",
     .cost = "O(log(N)) for N keys with an expiration",
     .key_use = "RW update"},
    {.name = "persist",
     .run = Persist,
     .arity = 2,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kGeneric,
     .since = "2.2.0",
     .usage = "key",
     .summary = "Removes the expiration time of a key.",
     .cost = "O(log(N)) for N keys with an expiration",
     .key_use = "RW update"},
};

}  // namespace

std::span<const Command> KeyExpireCommands() { return kKeyExpireCommands; }

}  // namespace zsetd
