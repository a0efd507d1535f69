#include "server/engine/client/client_pause.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "server/engine/client/client.h"
#include "server/engine/command/command.h"

namespace zsetd {
namespace {

bool Changes(uint32_t flags) { return (flags & (kWrite | kMayReplicate)) != 0; }

bool Changes(const Transaction& transaction) {
  return std::ranges::any_of(transaction.queue,
                             [](const QueuedCommand& queued) { return Changes(queued.flags); });
}

}  // namespace

void ClientPause::Begin(Cause cause, Reach reach, Millis now, Millis until) {
  Pause& pause = pauses_[static_cast<size_t>(cause)];
  const bool goes_on = pause.IsOn(now);
  pause.reach = goes_on ? std::max(pause.reach, reach) : reach;
  pause.until = goes_on ? std::max(*pause.until, until) : until;
  until_ = until_ ? std::max(*until_, *pause.until) : *pause.until;
  mode_.set_paused_until(until_);
}

void ClientPause::End(Cause cause) {
  pauses_[static_cast<size_t>(cause)] = Pause();
  until_.reset();
  for (const Pause& pause : pauses_) {
    if (pause.until) until_ = until_ ? std::max(*until_, *pause.until) : *pause.until;
  }
  mode_.set_paused_until(until_);
}

ClientPause::Reach ClientPause::ReachAt(Millis now) const {
  Reach widest = Reach::kWrites;
  for (const Pause& pause : pauses_) {
    if (pause.IsOn(now)) widest = std::max(widest, pause.reach);
  }
  return widest;
}

std::optional<Millis> ClientPause::NextDeadline(Millis now) const {
  if (HasReleased()) return now;
  if (IsOn(now)) return until_;
  if (HasPostponed()) return now;
  return std::nullopt;
}

bool ClientPause::Holds(const Client& client, uint32_t flags, Millis now) const {
  if (Changes(flags) || ReachAt(now) == Reach::kEverything) return true;
  return (flags & kEndsTransaction) != 0 && Changes(client.transaction);
}

void ClientPause::Postpone(Client& client, Args argv) {
  assert(!argv.empty() && client.postponed_request.empty());
  client.postponed_request = OwnedArgs(argv);
  client.postponed_at_ = next_++;
  postponed_.emplace(client.postponed_at_, &client);
}

void ClientPause::Remove(Client& client) {
  const uint64_t place = std::exchange(client.postponed_at_, 0);
  if (postponed_.erase(place) > 0) client.postponed_request = OwnedArgs();
}

std::optional<ClientPause::PostponedRequest> ClientPause::TakeReleased() {
  if (!HasReleased()) return std::nullopt;
  Client* const first = postponed_.begin()->second;
  postponed_.erase(postponed_.begin());
  first->postponed_at_ = 0;
  assert(!first->postponed_request.empty());
  return PostponedRequest{first, std::exchange(first->postponed_request, {})};
}

}  // namespace zsetd
