#include "server/commands/zset/add/zset_timed_add.h"

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "core/sorted_set/sorted_set.h"
#include "server/commands/common/element_expiry.h"
#include "server/commands/common/formed_scores.h"
#include "server/commands/zset/add/zset_form_add.h"

namespace zsetd {
namespace {

// Members that are deleted since are not propagated.
void PropagateFormed(Call& call, std::string_view key, const AddRule& rule,
                     const std::vector<std::string_view>& members) {
  const SortedSet& set = *call.keys.all().Find(key)->GetIf<SortedSet>();
  PropagatedScores scores(call, key, set.form(), rule.increment || rule.keep_deadline);
  for (const std::string_view member : members) {
    if (const std::optional<double> score = set.Score(member)) scores.Add(member, *score);
  }
}

// Redis receives the addition; only zsetd receives the deadlines. Adding a member removes its
// deadline, so a deadline that KEEPTTL keeps is propagated again.
void PropagateTimed(Call& call, std::string_view key, const TimedAddRequest& request,
                    const std::vector<std::string_view>& members) {
  if (!call.Propagates() || members.empty()) return;
  if (HasForm(call, key)) return PropagateFormed(call, key, request.add.rule, members);
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

// Like Add() below, for scores with a form.
std::vector<std::string_view> AddFormedPairs(Call& call, Edit<SortedSet>& set,
                                             const AddRequest& request) {
  FormedAddition addition(call, set, request);
  std::vector<std::string_view> members;
  if (!addition.Prepare()) return members;
  for (const Element& element : addition.Run()) members.push_back(element.member);
  return members;
}

// Adds the pairs and replies. Returns the members that were set.
std::vector<std::string_view> Add(Call& call, Edit<SortedSet>& set, const AddRequest& request) {
  if (IsFormed(set, request)) return AddFormedPairs(call, set, request);
  std::vector<std::string_view> members;
  if (!request.rule.increment) {
    call.reply.Integer(AddPairs(set, request, &members));
  } else if (Increment(call, set, request.pairs[0], request.rule)) {
    members.push_back(request.pairs[0].member);
  }
  return members;
}

}  // namespace

bool TakeMemberDeadline(Call& call, TimedAddRequest& request) {
  return TakeElementDeadlineOption(call, request.deadline, request.add.rule.keep_deadline,
                                   LeastTime::kOne);
}

void AddTimed(Call& call, std::string_view key, const TimedAddRequest& request) {
  std::vector<std::string_view> members;
  {
    Edit<SortedSet> set = OpenToAdd(call, key, request.add.rule);
    if (call.Refused()) return;
    members = Add(call, set, request.add);
  }
  PropagateTimed(call, key, request, members);
  if (request.deadline) ExpireSet(call, key, members, *request.deadline);
}

}  // namespace zsetd
