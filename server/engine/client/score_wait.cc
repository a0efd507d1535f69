#include "server/engine/client/score_wait.h"

namespace zsetd {

bool ScoreWait::CanServe(std::string_view, const Entry& entry, Millis now) const {
  const SortedSet* const set = entry.GetIf<SortedSet>();
  if (set == nullptr) return false;
  return !scores_.Suits(*set, now) || !scores_.RanksIn(*set, now).empty();
}

std::optional<Millis> ScoreWait::NextDue(const Entry& entry, Millis now) const {
  const SortedSet* const set = entry.GetIf<SortedSet>();
  return set == nullptr ? std::nullopt : scores_.NextReach(*set, now);
}

}  // namespace zsetd
