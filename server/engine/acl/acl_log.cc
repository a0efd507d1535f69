#include "server/engine/acl/acl_log.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace zsetd {
namespace {

constexpr Millis kTogether{60'000};   // Redis: ACL_LOG_GROUPING_MAX_TIME_DELTA
constexpr size_t kMostLookedAt = 10;  // of the newest, as Redis

}  // namespace

bool AclLog::Entry::IsLike(const Entry& other) const {
  return reason == other.reason && context == other.context && object == other.object &&
         user == other.user && std::chrono::abs(updated - other.updated) <= kTogether;
}

void AclLog::Add(Entry entry, size_t most) {
  const auto end =
      entries_.begin() + static_cast<ptrdiff_t>(std::min(entries_.size(), kMostLookedAt));
  const auto like =
      std::find_if(entries_.begin(), end, [&](const Entry& each) { return each.IsLike(entry); });
  entry.id = like == end ? next_id_++ : like->id;
  entry.created = like == end ? entry.updated : like->created;
  if (like != end) {
    entry.count += like->count;
    entries_.erase(like);
  }
  entries_.push_front(std::move(entry));
  while (entries_.size() > most) entries_.pop_back();
}

}  // namespace zsetd
