// Deadlines of members: ZEXPIRE and similar commands, and ZADDEX.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/sorted_set/sorted_set.h"
#include "protocol/text/number_text.h"
#include "server/commands/all_commands.h"
#include "server/commands/common/element_expiry.h"
#include "server/commands/common/propagated_value.h"
#include "server/commands/zset/zset_add.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

constexpr Millis kSecond{1000};
constexpr Millis kMilli{1};
constexpr Millis kEpoch{0};

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
  AddRule rule;
  bool count_changed = false;      // CH
  std::optional<Millis> deadline;  // for the members that are set
  std::vector<Element> pairs;
};

// Takes EX, PX, EXAT or PXAT with its time, or KEEPTTL.
bool TakeDeadline(Call& call, AddExRequest& request) {
  constexpr std::pair<std::string_view, Millis> kForms[] = {
      {"ex", kSecond}, {"px", kMilli}, {"exat", kSecond}, {"pxat", kMilli}};
  ArgReader& args = call.args;
  const auto refuse_second = [&] {
    if (!request.deadline && !request.rule.keep_deadline) return;
    args.Refuse("ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified");
  };
  if (args.Take("keepttl")) {
    refuse_second();
    request.rule.keep_deadline = true;
    return true;
  }
  for (const auto& [name, unit] : kForms) {
    if (!args.Take(name)) continue;
    refuse_second();
    if (args.AtEnd()) args.Refuse("ERR missing expire time");
    const Millis origin = name.ends_with("at") ? kEpoch : call.now();
    request.deadline = CheckedElementDeadline(call, args.Word(), {origin, unit});
    return true;
  }
  return false;
}

bool TakeRule(ArgReader& args, AddExRequest& request) {
  const std::pair<std::string_view, bool*> flags[] = {{"nx", &request.rule.only_new},
                                                      {"xx", &request.rule.only_existing},
                                                      {"gt", &request.rule.only_greater},
                                                      {"lt", &request.rule.only_less},
                                                      {"ch", &request.count_changed}};
  for (const auto& [name, flag] : flags) {
    if (!args.Take(name)) continue;
    *flag = true;
    return true;
  }
  return false;
}

void TakeScoredMembers(ArgReader& args, AddExRequest& request) {
  if (!args.ok()) return;
  const Args words =
      TakeCountedElements(args, kMemberWords, "ERR Parameter `numMembers` should be greater than 0",
                          /*each=*/2);
  for (size_t i = 0; args.ok() && i < words.size(); i += 2) {
    const std::optional<double> score = ParseDouble(words[i]);
    if (!score) return args.Refuse(kNotAFloat);
    request.pairs.push_back({words[i + 1], *score});
  }
}

AddExRequest TakeAddExRequest(Call& call) {
  ArgReader& args = call.args;
  AddExRequest request;
  while (args.ok() && !args.AtEnd() && !args.Take("members")) {
    if (TakeRule(args, request) || TakeDeadline(call, request)) continue;
    args.Refuse("ERR unknown argument: " + std::string(args.Peek()));
  }
  if (args.AtEnd()) args.Refuse("ERR Mandatory argument MEMBERS is missing");
  CheckRule(args, request.rule);
  TakeScoredMembers(args, request);
  return request;
}

// The result of ZADDEX.
struct AddExOutcome {
  int64_t counted = 0;
  std::vector<Element> set;  // with their new scores
};

AddExOutcome AddPairs(Edit<SortedSet>& set, const AddExRequest& request) {
  AddExOutcome outcome;
  for (const Element& pair : request.pairs) {
    if (!set) break;
    const AddResult result = set.Add(pair.member, pair.score, request.rule);
    if (result.IsRefused()) continue;
    outcome.set.push_back({pair.member, result.score});
    outcome.counted +=
        request.count_changed ? result.Changed() : result.kind == AddResult::Kind::kAdded;
  }
  return outcome;
}

// Redis receives the members and their scores; only zsetd receives the deadlines. Adding a member
// removes its deadline, so a deadline that KEEPTTL keeps is propagated again.
void PropagateAddEx(Call& call, std::string_view key, const AddExRequest& request,
                    const AddExOutcome& outcome) {
  if (!call.Propagates()) return;
  PropagatedItems items(call, "ZADD", key, outcome.set.size(), 2);
  for (const auto& [member, score] : outcome.set) items.Add({DoubleText(score), member});
  const Entry* entry = call.keys.all().Find(key);
  const SortedSet* set = entry == nullptr ? nullptr : entry->GetIf<SortedSet>();
  if (!request.rule.keep_deadline || set == nullptr) return;
  std::map<Millis, std::vector<std::string_view>> kept;
  for (const auto& [member, score] : outcome.set) {
    const std::optional<Millis> deadline = set->Deadline(member);
    if (deadline) kept[*deadline].push_back(member);
  }
  for (const auto& [deadline, members] : kept) {
    PropagateElementDeadline(call, key, members, deadline, kMemberWords);
  }
}

// Sets the deadline of the existing members, or removes them if it has passed.
void ExpireSet(Call& call, std::string_view key, const AddExOutcome& outcome, Millis deadline) {
  if (outcome.set.empty()) return;
  const bool has_passed = HasPassed(call, deadline);
  std::vector<std::string_view> changed;
  {
    const KeyEvent event = has_passed ? kMemberWords.remove_event : kMemberWords.expire_event;
    Edit<SortedSet> set = call.Open<SortedSet>(key, event);
    for (const auto& [member, score] : outcome.set) {
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
  AddExOutcome outcome;
  {
    Edit<SortedSet> set = OpenToAdd(call, key, request.rule);
    if (call.Refused()) return;
    outcome = AddPairs(set, request);
  }
  PropagateAddEx(call, key, request, outcome);
  if (request.deadline) ExpireSet(call, key, outcome, *request.deadline);
  call.reply.Integer(outcome.counted);
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
