#include "server/commands/zset/pop/zset_moved.h"

#include <map>
#include <vector>

#include "protocol/text/number_text.h"
#include "server/commands/common/element_expiry.h"
#include "server/commands/common/member_payloads.h"
#include "server/commands/common/propagated_value.h"

namespace zsetd {

void AddMoved(Edit<SortedSet>& set, std::span<MovedElement> moved, bool stays) {
  for (MovedElement& element : moved) {
    const AddResult result = set.Add(element.member, element.score, AddRule{.keep_deadline = true});
    if (element.deadline || set->has_deadlines()) {
      set->SetDeadline(element.member, element.deadline);
    }
    const bool is_new = result.kind == AddResult::Kind::kAdded;
    if (stays || (is_new && !element.payload)) continue;
    const bool changes = set->SetPayload(element.member, element.payload);
    element.drops_payload = changes && !element.payload;
  }
}

void PropagateMoved(Call& call, std::string_view source, std::string_view destination,
                    std::span<const MovedElement> moved) {
  if (!call.Propagates()) return;
  if (source != destination) {
    PropagatedItems removal(call, "ZREM", source, moved.size());
    for (const MovedElement& element : moved) removal.Add({element.member});
  }
  PropagatedItems addition(call, "ZADD", destination, moved.size(), 2);
  std::map<Millis, std::vector<std::string_view>> deadlines;
  for (const MovedElement& element : moved) {
    addition.Add({DoubleText(element.score), element.member});
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
