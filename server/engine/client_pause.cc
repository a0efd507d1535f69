#include "server/engine/client_pause.h"

#include <algorithm>
#include <utility>

#include "server/engine/client/client.h"
#include "server/engine/command/command.h"

namespace zsetd {
namespace {

bool Changes(const Command& command) { return command.Has(kWrite) || command.Has(kMayReplicate); }

bool Changes(const Transaction& transaction) {
  return std::ranges::any_of(transaction.queue,
                             [](const QueuedCommand& queued) { return Changes(*queued.command); });
}

}  // namespace

void ClientPause::Begin(Reach reach, Millis now, Millis until) {
  const bool goes_on = IsOn(now);
  reach_ = goes_on ? std::max(reach_, reach) : reach;
  until_ = goes_on ? std::max(*until_, until) : until;
}

std::optional<Millis> ClientPause::NextDeadline(Millis now) const {
  if (IsOn(now)) return until_;
  if (!postponed_.empty()) return now;
  return std::nullopt;
}

bool ClientPause::Holds(const Client& client, const Command& command, Millis now) const {
  if (!IsOn(now)) return false;
  if (reach_ == Reach::kEverything || Changes(command)) return true;
  return command.Has(kEndsTransaction) && Changes(client.transaction);
}

void ClientPause::Postpone(Client& client, Args argv) {
  client.postponed_request = OwnedArgs(argv);
  postponed_.push_back(&client);
}

void ClientPause::Remove(Client& client) {
  if (client.postponed_request.empty()) return;
  std::erase(postponed_, &client);
  client.postponed_request = OwnedArgs();
}

std::optional<ClientPause::PostponedRequest> ClientPause::TakeFirst() {
  if (postponed_.empty()) return std::nullopt;
  Client* const first = postponed_.front();
  postponed_.pop_front();
  return PostponedRequest{first, std::exchange(first->postponed_request, {})};
}

}  // namespace zsetd
