// Deadlines of members: ZEXPIRE and similar commands, and ZADDEX.
#include <cstdint>
#include <string>
#include <string_view>

#include "core/sorted_set/sorted_set.h"
#include "server/commands/common/element_expiry.h"
#include "server/commands/zset/add/zset_add.h"
#include "server/commands/zset/add/zset_timed_add.h"
#include "server/commands/zset/families.h"
#include "server/engine/call.h"
#include "server/engine/command/usage_text.h"

namespace zsetd {
namespace {

void ZExpire(Call& call) { ExpireElements<SortedSet>(call, {call.now(), kSecond}, kMemberWords); }
void ZPExpire(Call& call) { ExpireElements<SortedSet>(call, {call.now(), kMilli}, kMemberWords); }
void ZExpireAt(Call& call) { ExpireElements<SortedSet>(call, {kEpoch, kSecond}, kMemberWords); }
void ZPExpireAt(Call& call) { ExpireElements<SortedSet>(call, {kEpoch, kMilli}, kMemberWords); }

void ZTtl(Call& call) {
  ReplyElementDeadlines<SortedSet>(call, {call.now(), kSecond}, kMemberWords);
}
void ZPTtl(Call& call) {
  ReplyElementDeadlines<SortedSet>(call, {call.now(), kMilli}, kMemberWords);
}
void ZExpireTime(Call& call) {
  ReplyElementDeadlines<SortedSet>(call, {kEpoch, kSecond}, kMemberWords);
}
void ZPExpireTime(Call& call) {
  ReplyElementDeadlines<SortedSet>(call, {kEpoch, kMilli}, kMemberWords);
}

void ZPersist(Call& call) { PersistElements<SortedSet>(call, kMemberWords); }

// Takes the number of elements and the pairs of a score and a member.
void TakeCountedPairs(Call& call, AddRequest& request) {
  const Args words = TakeCountedElements(
      call.args, kMemberWords, "ERR Parameter `numMembers` should be greater than 0", /*each=*/2);
  if (!call.args.ok()) return;
  ArgReader reader(words, 0);
  TakePairs(call, reader, request);
  if (!reader.ok()) return call.args.Refuse(reader.status());
  if (!reader.AtEnd()) call.args.Refuse(kNotAFloat);
}

TimedAddRequest TakeTimedAddRequest(Call& call) {
  ArgReader& args = call.args;
  TimedAddRequest request;
  AddRule& rule = request.add.rule;
  while (args.ok() && !args.AtEnd() && !args.Take("members")) {
    if (TakeRuleOption(args, request.add) || TakeMemberDeadline(call, request) ||
        TakeFormOption(args, request.add)) {
      continue;
    }
    if (!args.Take("incr")) args.Refuse("ERR unknown argument: " + std::string(args.Peek()));
    rule.increment = true;
  }
  if (args.AtEnd()) args.Refuse("ERR Mandatory argument MEMBERS is missing");
  CheckRule(args, rule);
  if (args.ok()) TakeCountedPairs(call, request.add);
  CheckIncrement(args, rule, request.add.pairs.size());
  return request;
}

void ZAddEx(Call& call) {
  const std::string_view key = call.args.Word();
  AddTimed(call, key, TakeTimedAddRequest(call));
}

constexpr uint32_t kSets = kWrite | kDenyOom | kFast;
constexpr uint32_t kAsks = kReadOnly | kFast;

constexpr Command kZSetExpireCommands[] = {
    {.name = "zexpire",
     .run = ZExpire,
     .arity = -6,
     .flags = kSets,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = kZsetdOnly,
     .usage = "key seconds [NX|XX|GT|LT] MEMBERS nummembers member [member ...]",
     .summary = "Sets the time to live of members, in seconds.",
     .cost = "O(log(N)) for each member",
     .key_use = "RW update"},
    {.name = "zpexpire",
     .run = ZPExpire,
     .arity = -6,
     .flags = kSets,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = kZsetdOnly,
     .usage = "key milliseconds [NX|XX|GT|LT] MEMBERS nummembers member [member ...]",
     .summary = "Sets the time to live of members, in milliseconds.",
     .cost = "O(log(N)) for each member",
     .key_use = "RW update"},
    {.name = "zexpireat",
     .run = ZExpireAt,
     .arity = -6,
     .flags = kSets,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = kZsetdOnly,
     .usage = "key unix-time-seconds [NX|XX|GT|LT] MEMBERS nummembers member [member ...]",
     .summary = "Sets the expiration time of members, as Unix time in seconds.",
     .cost = "O(log(N)) for each member",
     .key_use = "RW update"},
    {.name = "zpexpireat",
     .run = ZPExpireAt,
     .arity = -6,
     .flags = kSets,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = kZsetdOnly,
     .usage = "key unix-time-milliseconds [NX|XX|GT|LT] MEMBERS nummembers member [member ...]",
     .summary = "Sets the expiration time of members, as Unix time in milliseconds.",
     .cost = "O(log(N)) for each member",
     .key_use = "RW update"},
    {.name = "zttl",
     .run = ZTtl,
     .arity = -5,
     .flags = kAsks,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = kZsetdOnly,
     .usage = "key MEMBERS nummembers member [member ...]",
     .summary = "Returns the remaining time to live of members, in seconds.",
     .cost = "O(1) for each member",
     .tips = "nondeterministic_output"},
    {.name = "zpttl",
     .run = ZPTtl,
     .arity = -5,
     .flags = kAsks,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = kZsetdOnly,
     .usage = "key MEMBERS nummembers member [member ...]",
     .summary = "Returns the remaining time to live of members, in milliseconds.",
     .cost = "O(1) for each member",
     .tips = "nondeterministic_output"},
    {.name = "zexpiretime",
     .run = ZExpireTime,
     .arity = -5,
     .flags = kAsks,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = kZsetdOnly,
     .usage = "key MEMBERS nummembers member [member ...]",
     .summary = "Returns the expiration time of members, as Unix time in seconds.",
     .cost = "O(1) for each member"},
    {.name = "zpexpiretime",
     .run = ZPExpireTime,
     .arity = -5,
     .flags = kAsks,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = kZsetdOnly,
     .usage = "key MEMBERS nummembers member [member ...]",
     .summary = "Returns the expiration time of members, as Unix time in milliseconds.",
     .cost = "O(1) for each member"},
    {.name = "zpersist",
     .run = ZPersist,
     .arity = -5,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = kZsetdOnly,
     .usage = "key MEMBERS nummembers member [member ...]",
     .summary = "Removes the expiration time of members.",
     .cost = "O(log(N)) for each member",
     .key_use = "RW update"},
    {.name = "zaddex",
     .run = ZAddEx,
     .arity = -6,
     .flags = kSets,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = kZsetdOnly,
     .usage = kUsage<"key [NX|XX] [GT|LT] [CH] [INCR] ", kScoreForm, " ", kSetsTime,
                     " MEMBERS nummembers score member [score member ...]">,
     .summary = "Adds members, or updates or increments their scores, and sets their expiration "
                "times.",
     .cost = "O(log(N)) for each member",
     .key_use = "RW update"},
};

}  // namespace

std::span<const Command> ZSetExpireCommands() { return kZSetExpireCommands; }

}  // namespace zsetd
