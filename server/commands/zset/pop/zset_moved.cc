#include "server/commands/zset/pop/zset_moved.h"

#include <map>
#include <vector>

#include "protocol/text/number_text.h"
#include "server/commands/common/element_expiry.h"
#include "server/commands/common/propagated_value.h"

namespace zsetd {

void AddMoved(Edit<SortedSet>& set, std::span<const MovedElement> moved) {
  for (const MovedElement& element : moved) {
    set.Add(element.member, element.score, AddRule{.keep_deadline = true});
    if (element.deadline || set->has_deadlines()) {
      set->SetDeadline(element.member, element.deadline);
    }
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
}

}  // namespace zsetd
