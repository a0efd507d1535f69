#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "core/sorted_set/sorted_set.h"
#include "core/util/time.h"
#include "server/engine/call.h"

namespace zsetd {

// A copy of an element on its way from one sorted set to another.
struct MovedElement {
  std::string member;
  double score = 0;                // in the destination; a code if its scores have a form
  std::optional<Millis> deadline;  // moves with the member
  std::optional<std::string> payload = std::nullopt;  // moves with the member
  bool drops_payload = false;  // without a payload, it replaced an element that had one
};

// Commands often move one element, which then takes no allocation.
using MovedElements = absl::InlinedVector<MovedElement, 1>;

// Adds the elements. A new set gets this form, which is that of their scores. A member that the set
// has already gets the score, the deadline and the payload of the moved element. An element that
// stays in its set keeps its payload.
void AddMoved(Edit<SortedSet>& set, const ScoreForm& form, std::span<MovedElement> moved,
              bool stays);

// Refuses a destination whose scores have another form than those of the source. Either may be
// null.
void CheckSameForm(Call& call, const SortedSet* source, const SortedSet* destination);

// Propagates the removal from `source`, unless both keys are the same, and the addition to
// `destination`. Redis receives members and scores; only zsetd receives deadlines and payloads.
void PropagateMoved(Call& call, std::string_view source, std::string_view destination,
                    std::span<const MovedElement> moved);

}  // namespace zsetd
