#include "server/commands/zset/pop/zset_moved.h"

#include <cassert>
#include <map>
#include <vector>

#include "protocol/text/number_text.h"
#include "server/commands/common/element_expiry.h"
#include "server/commands/common/formed_scores.h"
#include "server/commands/common/member_payloads.h"
#include "server/commands/common/propagated_value.h"

namespace zsetd {
namespace {

void PropagateAdded(Call& call, std::string_view key, std::span<const MovedElement> moved) {
  const SortedSet& set = *call.keys.all().Find(key)->GetIf<SortedSet>();
  if (set.has_form()) {
    PropagatedScores scores(call, key, set.form());
    for (const MovedElement& element : moved) scores.Add(element.member, element.score);
    return;
  }
  PropagatedItems addition(call, "ZADD", key, moved.size(), 2);
  for (const MovedElement& element : moved) {
    addition.Add({DoubleText(element.score), element.member});
  }
}

}  // namespace

void AddMoved(Edit<SortedSet>& set, const ScoreForm& form, std::span<MovedElement> moved,
              bool stays) {
  if (set->empty() && !form.is_double()) {
    [[maybe_unused]] const bool has_room = set->SetForm(form);
    assert(has_room);  // the form was in use a moment ago
  }
  for (MovedElement& element : moved) {
    const AddResult result =
        set->has_form()
            ? set.Place(element.member, ScoreCode(element.score), /*keeps_deadline=*/true)
            : set.Add(element.member, element.score, AddRule{.keep_deadline = true});
    if (element.deadline || set->has_deadlines()) {
      set->SetDeadline(element.member, element.deadline);
    }
    const bool is_new = result.kind == AddResult::Kind::kAdded;
    if (stays || (is_new && !element.payload)) continue;
    const bool changes = set->SetPayload(element.member, element.payload);
    element.drops_payload = changes && !element.payload;
  }
}

void CheckSameForm(Call& call, const SortedSet* source, const SortedSet* destination) {
  if (source == nullptr || destination == nullptr || source->HasFormOf(*destination)) return;
  call.args.Refuse(kOtherForm);
}

void PropagateMoved(Call& call, std::string_view source, std::string_view destination,
                    std::span<const MovedElement> moved) {
  if (!call.Propagates()) return;
  if (source != destination) {
    PropagatedItems removal(call, "ZREM", source, moved.size());
    for (const MovedElement& element : moved) removal.Add({element.member});
  }
  PropagateAdded(call, destination, moved);
  std::map<Millis, std::vector<std::string_view>> deadlines;
  for (const MovedElement& element : moved) {
    if (element.deadline) deadlines[*element.deadline].push_back(element.member);
  }
  for (const auto& [deadline, members] : deadlines) {
    PropagateElementDeadline(call, destination, members, deadline, kMemberWords);
  }
  if (source == destination) return;
  PropagatedPayloads payloads(call, destination);
  for (const MovedElement& element : moved) {
    if (element.payload || element.drops_payload) payloads.Add(element.member, element.payload);
  }
}

}  // namespace zsetd
