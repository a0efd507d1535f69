#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/sorted_set/sorted_set.h"
#include "core/util/time.h"
#include "server/engine/call.h"

namespace zsetd {

// An element on its way from one sorted set to another. The bytes of the member are owned by the
// command that moves it.
struct MovedElement {
  std::string_view member;
  double score = 0;                // in the destination
  std::optional<Millis> deadline;  // moves with the member
};

// Adds the elements. A member that the set has already gets the score and the deadline of the moved
// element.
void AddMoved(Edit<SortedSet>& set, std::span<const MovedElement> moved);

// Propagates the removal from `source`, unless both keys are the same, and the addition to
// `destination`. Redis receives members and scores; only zsetd receives the deadlines.
void PropagateMoved(Call& call, std::string_view source, std::string_view destination,
                    std::span<const MovedElement> moved);

}  // namespace zsetd
