#include <cstdint>

#include "server/commands/common/expiry_option.h"
#include "server/commands/key/families.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

int64_t InMillis(Millis time) { return time.count(); }

// Rounds to the nearest second, as in Redis. The time is not negative.
int64_t InSeconds(Millis time) { return time.count() / 1000 + (time.count() % 1000 >= 500); }

// Replies the time from `origin` to the key's deadline; -1 without a deadline, -2 if the key does
// not exist.
void ReplyDeadline(Call& call, Millis origin, int64_t (*in_unit)(Millis)) {
  const Entry* entry = call.keys.Find(call.args.Word());
  if (entry == nullptr) return call.reply.Integer(-2);
  if (!entry->deadline()) return call.reply.Integer(-1);
  call.reply.Integer(in_unit(*entry->deadline() - origin));
}

void Ttl(Call& call) { ReplyDeadline(call, call.now(), InSeconds); }
void PTtl(Call& call) { ReplyDeadline(call, call.now(), InMillis); }
void ExpireTime(Call& call) { ReplyDeadline(call, kEpoch, InSeconds); }
void PExpireTime(Call& call) { ReplyDeadline(call, kEpoch, InMillis); }

constexpr Command kKeyTtlCommands[] = {
    {.name = "ttl",
     .run = Ttl,
     .arity = 2,
     .flags = kReadOnly | kFast | kNoTouch,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kGeneric,
     .since = "1.0.0",
     .usage = "key",
     .summary = "Returns the remaining time to live of a key, in seconds.",
     .cost = "O(1)",
     .tips = "nondeterministic_output"},
    {.name = "pttl",
     .run = PTtl,
     .arity = 2,
     .flags = kReadOnly | kFast | kNoTouch,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kGeneric,
     .since = "2.6.0",
     .usage = "key",
     .summary = "Returns the remaining time to live of a key, in milliseconds.",
     .cost = "O(1)",
     .tips = "nondeterministic_output"},
    {.name = "expiretime",
     .run = ExpireTime,
     .arity = 2,
     .flags = kReadOnly | kFast | kNoTouch,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kGeneric,
     .since = "7.0.0",
     .usage = "key",
     .summary = "Returns the expiration time of a key, as Unix time in seconds.",
     .cost = "O(1)"},
    {.name = "pexpiretime",
     .run = PExpireTime,
     .arity = 2,
     .flags = kReadOnly | kFast | kNoTouch,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kGeneric,
     .since = "7.0.0",
     .usage = "key",
     .summary = "Returns the expiration time of a key, as Unix time in milliseconds.",
     .cost = "O(1)"},
};

}  // namespace

std::span<const Command> KeyTtlCommands() { return kKeyTtlCommands; }

}  // namespace zsetd
