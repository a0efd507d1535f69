#include "server/engine/client_pause.h"

#include <algorithm>
#include <utility>

#include "server/engine/client/client.h"
#include "server/engine/command/command.h"

namespace zsetd {
namespace {

bool Changes(const Command& command) {
  return command.Has(kWrite) || command.Has(kHeldBackWithWrites);
}

bool Changes(const Transaction& transaction) {
  return std::ranges::any_of(transaction.queue,
                             [](const QueuedCommand& queued) { return Changes(*queued.command); });
}

}  // namespace

void Pause::Begin(Reach reach, Millis now, Millis until) {
  const bool goes_on = IsOn(now);
  reach_ = goes_on ? std::max(reach_, reach) : reach;
  until_ = goes_on ? std::max(*until_, until) : until;
}

std::optional<Millis> Pause::NextDeadline(Millis now) const {
  if (IsOn(now)) return until_;
  if (!held_back_.empty()) return now;
  return std::nullopt;
}

bool Pause::Holds(const Client& client, const Command& command, Millis now) const {
  if (!IsOn(now)) return false;
  if (reach_ == Reach::kEverything || Changes(command)) return true;
  return command.Has(kEndsTransaction) && Changes(client.transaction);
}

void Pause::HoldBack(Client& client, Words words) {
  client.held_back = OwnedWords(words);
  held_back_.push_back(&client);
}

void Pause::Remove(Client& client) {
  if (client.held_back.empty()) return;
  std::erase(held_back_, &client);
  client.held_back = OwnedWords();
}

std::optional<Pause::HeldBack> Pause::TakeFirst() {
  if (held_back_.empty()) return std::nullopt;
  Client* const first = held_back_.front();
  held_back_.pop_front();
  return HeldBack{first, std::exchange(first->held_back, {})};
}

}  // namespace zsetd
