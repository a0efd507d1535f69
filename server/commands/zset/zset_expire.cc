// Deadlines of members: ZEXPIRE and similar commands, and ZADDEX.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/sorted_set/sorted_set.h"
#include "server/commands/common/element_expiry.h"
#include "server/commands/zset/families.h"
#include "server/commands/zset/zset_add.h"
#include "server/engine/call.h"

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

struct AddExRequest {
  AddRequest add;                  // as of ZADD, without options about time
  std::optional<Millis> deadline;  // for the members that are set
};

// Takes the number of elements and the pairs of a score and a member.
void TakeCountedPairs(Call& call, AddRequest::Pairs& pairs) {
  const Args words = TakeCountedElements(
      call.args, kMemberWords, "ERR Parameter `numMembers` should be greater than 0", /*each=*/2);
  if (!call.args.ok()) return;
  ArgReader reader(words, 0);
  TakePairs(reader, call.keys.refuses_inexact_integers(), pairs);
  if (!reader.ok()) return call.args.Refuse(reader.status());
  if (!reader.AtEnd()) call.args.Refuse(kNotAFloat);
}

AddExRequest TakeAddExRequest(Call& call) {
  ArgReader& args = call.args;
  AddExRequest request;
  AddRule& rule = request.add.rule;
  while (args.ok() && !args.AtEnd() && !args.Take("members")) {
    if (TakeRuleOption(args, request.add) ||
        TakeElementDeadlineOption(call, request.deadline, rule.keep_deadline)) {
      continue;
    }
    args.Refuse("ERR unknown argument: " + std::string(args.Peek()));
  }
  if (args.AtEnd()) args.Refuse("ERR Mandatory argument MEMBERS is missing");
  CheckRule(args, rule);
  if (args.ok()) TakeCountedPairs(call, request.add.pairs);
  return request;
}

// Redis receives the addition; only zsetd receives the deadlines. Adding a member removes its
// deadline, so a deadline that KEEPTTL keeps is propagated again.
void PropagateAddEx(Call& call, std::string_view key, const AddExRequest& request,
                    const std::vector<std::string_view>& members) {
  if (!call.Propagates() || members.empty()) return;
  PropagatePairs(call, key, request.add);
  if (!request.add.rule.keep_deadline) return;
  const Entry* entry = call.keys.all().Find(key);
  const SortedSet* set = entry == nullptr ? nullptr : entry->GetIf<SortedSet>();
  if (set == nullptr) return;
  std::map<Millis, std::vector<std::string_view>> kept;
  for (const std::string_view member : members) {
    const std::optional<Millis> deadline = set->Deadline(member);
    if (deadline) kept[*deadline].push_back(member);
  }
  for (const auto& [deadline, with_it] : kept) {
    PropagateElementDeadline(call, key, with_it, deadline, kMemberWords);
  }
}

// Sets the deadline of the existing members, or removes them if it has passed.
void ExpireSet(Call& call, std::string_view key, const std::vector<std::string_view>& members,
               Millis deadline) {
  if (members.empty()) return;
  const bool has_passed = HasPassed(call, deadline);
  std::vector<std::string_view> changed;
  {
    const KeyEvent event = has_passed ? kMemberWords.remove_event : kMemberWords.expire_event;
    Edit<SortedSet> set = call.Open<SortedSet>(key, event);
    for (const std::string_view member : members) {
      const int64_t done =
          ExpireElement(*set, member, ElementCondition::kNone, deadline, has_passed);
      if (done > 0) {
        changed.push_back(member);
        set.RecordSubkey(member);
      }
    }
  }
  if (has_passed) {
    PropagateElementRemoval(call, key, changed, kMemberWords);
  } else {
    PropagateElementDeadline(call, key, changed, deadline, kMemberWords);
  }
}

void ZAddEx(Call& call) {
  const std::string_view key = call.args.Word();
  const AddExRequest request = TakeAddExRequest(call);
  std::vector<std::string_view> members;  // that were set
  int64_t counted = 0;
  {
    Edit<SortedSet> set = OpenToAdd(call, key, request.add.rule);
    if (call.Refused()) return;
    counted = AddPairs(set, request.add, &members);
  }
  PropagateAddEx(call, key, request, members);
  if (request.deadline) ExpireSet(call, key, members, *request.deadline);
  call.reply.Integer(counted);
}

constexpr uint32_t kSets = kWrite | kDenyOom | kFast;
constexpr uint32_t kAsks = kReadOnly | kFast;

constexpr Command kCommands[] = {
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
     .usage = "key [NX|XX] [GT|LT] [CH] [EX seconds|PX milliseconds|EXAT unix-time-seconds|PXAT "
              "unix-time-milliseconds|KEEPTTL] MEMBERS nummembers score member [score member ...]",
     .summary = "Adds members or updates their scores, and sets their expiration times.",
     .cost = "O(log(N)) for each member",
     .key_use = "RW update"},
};

}  // namespace

std::span<const Command> ZSetExpireCommands() { return kCommands; }

}  // namespace zsetd
