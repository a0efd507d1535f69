#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/sorted_set/form/score_form.h"
#include "core/util/allocation_size.h"
#include "core/util/time.h"

namespace zsetd {

class SortedSet;

// A channel that reports the first elements of a sorted set, from the lowest or from the highest:
//
//   __top@<database>__:<count>:<key>        __toprev@<database>__:<count>:<key>
//
// A message has a line for each change since the previous message:
//
//   out <member>                            the element is not among the first any more
//   move <from> <to> <score> <member>       it has another score; ranks in the two messages
//   in <rank> <score> <member>              it was not among the first before
//
// The lines `out` come first; then `in` and `move` are in the order of their new ranks. Elements
// that only make room have no line: a reader that removes all members of `out` and `move`, and then
// inserts those of `in` and `move` at their ranks in this order, has the first elements. If the
// form of the scores is another one, all previous elements are `out`, and all elements are `in`.
struct TopChannel {
  static constexpr size_t kMostElements = 1000;

  int database = 0;
  size_t count = 0;  // 1 to kMostElements
  bool reversed = false;
  std::string_view key;
};

// Returns nullopt if the channel's name is not of this form.
std::optional<TopChannel> ReadTopChannel(std::string_view name);

// One of the first elements. Keeps as much of a long member as messages show.
class TopElement {
 public:
  static constexpr size_t kShownBytes = 1024;
  static constexpr size_t kMostBytes = 1440;  // with its allocations

  // `score` is the text that messages show. If it changes with the time alone, `state` is what
  // changes with the score, else 0.
  TopElement(std::string_view member, std::string score, uint64_t state = 0);

  const std::string& score() const { return score_; }
  std::string_view shown() const { return std::string_view(identity_).substr(0, kShownBytes); }

  bool HasScoreOf(const TopElement& other) const {
    return state_ == other.state_ && (state_ != 0 || score_ == other.score_);
  }

  // Differs between members, also if their first bytes are equal.
  std::string_view identity() const { return identity_; }

  size_t AllocatedBytes() const {  // without the object itself
    return StringAllocationSize(identity_.capacity()) + StringAllocationSize(score_.capacity());
  }

 private:
  std::string identity_;  // a long member's first bytes, then its hash
  std::string score_;
  uint64_t state_;
};

// The first elements, and the form of their scores.
struct Top {
  ScoreForm form;
  std::vector<TopElement> elements;

  size_t AllocatedBytes() const;  // O(elements)
};

// Returns the first `count` elements of the set with their scores of `now`; of a null set, none.
// O(log n + count).
Top TopOf(const SortedSet* set, size_t count, bool reversed, Millis now);

// Returns the message that leads from one state to the next; empty if they are equal. O(sizes).
std::string TopChanges(const Top& before, const Top& after);

}  // namespace zsetd
