#include "server/engine/notify/overdue_requests.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "server/engine/client/client.h"
#include "server/engine/command/request_keys.h"
#include "server/engine/store/store.h"

namespace zsetd {
namespace {

constexpr size_t kRemovedByRequests = 1000;  // between two ticks: some hundred microseconds
constexpr size_t kRemovedPerLook = 128;      // between two readings of the stopwatch

}  // namespace

OverdueRequests::OverdueRequests(Store& store, const Host& host)
    : store_(store), host_(host), removable_(kRemovedByRequests) {}

std::vector<std::string_view> OverdueRequests::KeysOf(const Client& client, const Command& command,
                                                      Args argv) {
  std::vector<std::string_view> keys;
  const auto add = [&](const Command& of, Args words) {
    for (const size_t position : FindKeys(of, words)) keys.push_back(words[position]);
  };
  add(command, argv);
  if (!command.Has(kRunsTransaction)) return keys;
  for (const QueuedCommand& queued : client.transaction.queue) {
    add(*queued.command, queued.argv.argv());
  }
  return keys;
}

bool OverdueRequests::MayRun(const Client& client, const Command& command, Args argv) {
  return std::ranges::all_of(KeysOf(client, command, argv),
                             [&](std::string_view key) { return MayOpen(client.database, key); });
}

bool OverdueRequests::MayOpen(int index, std::string_view key) {
  Database& database = store_.database(index);
  if (!store_.expires_actively() || !database.HasDueElement(key)) return true;
  if (removable_ == 0) return false;
  removable_ -= database.ReclaimDueElementsOf(key, removable_);
  return !database.HasDueElement(key);
}

void OverdueRequests::Postpone(Client& client, Args argv) {
  assert(client.postponed_request.empty());
  client.postponed_request = OwnedArgs(argv);
  queue_.push_back(&client);
}

void OverdueRequests::Remove(Client& client) {
  if (std::erase(queue_, &client) > 0) client.postponed_request = OwnedArgs();
}

void OverdueRequests::BeginTick() { removable_ = kRemovedByRequests; }

bool OverdueRequests::ClearFirst(const Command& command, Micros until) {
  assert(!empty());
  const Client& client = first();
  Database& database = store_.database(client.database);
  for (const std::string_view key : KeysOf(client, command, client.postponed_request.argv())) {
    while (database.ReclaimDueElementsOf(key, kRemovedPerLook) == kRemovedPerLook) {
      if (host_.stopwatch() > until) return false;
    }
  }
  return true;
}

void OverdueRequests::MoveFirstToEnd() {
  assert(!empty());
  queue_.push_back(queue_.front());
  queue_.pop_front();
}

OverdueRequests::Request OverdueRequests::TakeFirst() {
  assert(!empty());
  Client* const client = queue_.front();
  queue_.pop_front();
  return {client, std::exchange(client->postponed_request, {})};
}

}  // namespace zsetd
