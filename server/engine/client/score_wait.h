#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "core/sorted_set/sorted_set.h"
#include "core/sorted_set/timed_score_range.h"
#include "server/engine/client/key_wait.h"

namespace zsetd {

// Waits until the sorted set at the key has an element in the range, through a change of the key or
// of the time (BZPOPBYSCORE). A set whose form has no such range ends the wait, too: the command
// then replies the error.
class ScoreWait : public KeyWait<SortedSet> {
 public:
  explicit ScoreWait(const TimedScoreRange& scores) : scores_(scores) {}

  bool CanServe(std::string_view key, const Entry& entry, Millis now) const override;
  std::optional<Millis> NextDue(const Entry& entry, Millis now) const override;
  size_t BytesUsed() const override {
    return AllocationSize(sizeof(*this)) + scores_.min.exact.size() + scores_.max.exact.size();
  }
  const TimedScoreRange* scores() const override { return &scores_; }

 private:
  const TimedScoreRange scores_;
};

}  // namespace zsetd
