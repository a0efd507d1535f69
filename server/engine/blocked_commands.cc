// Blocking commands. One that finds nothing to do blocks (Call::WaitFor); its arguments are kept
// and it is run again when one of its keys has changed, until it succeeds or its timeout elapses.
// This happens between commands, never inside a transaction. A command that CLIENT PAUSE postponed
// has not started; it runs for the first time after the pause. A command that waits for the removal
// of due elements has not started either (overdue_requests.h).

#include <optional>
#include <string_view>
#include <utility>

#include "server/engine/admin_call.h"
#include "server/engine/engine.h"
#include "server/engine/executor.h"
#include "server/engine/services/replica_registry.h"
#include "server/engine/services/services.h"

namespace zsetd {

// Puts the call's command aside until it can be served; it may have been before.
void Executor::Block(Client& client, Call& call) {
  if (client.blocked) return;
  BlockedClients& blocked = notifier_.blocked_clients();
  blocked.Add(client, std::move(*call.TakeWait()));
  const Wait& wait = *client.blocked->wait;
  if (wait.scores() != nullptr) DeferUntilDue(client);
  if (!wait.AwaitsAcknowledgements()) return;
  acknowledgement_waits_.push_back({client.id, client.blocked->number});
  engine_.services().replicas->AskForAcknowledgements();
}

// The client waits for scores that its key does not have now.
void Executor::DeferUntilDue(Client& client) {
  const BlockedCommand::Key& key = client.blocked->keys.front();
  const Entry* const entry = store_.database(key.first).Find(key.second);
  notifier_.blocked_clients().Defer(
      client,
      entry == nullptr ? std::nullopt : client.blocked->wait->NextDue(*entry, store_.now()));
}

void Executor::ServeWaiters() {
  BlockedClients& blocked = notifier_.blocked_clients();
  while (const auto key = blocked.TakeReady()) {
    uint64_t number = 0;
    if (!MayOpen(key->first, key->second)) {  // it changes again when more has been removed
      blocked.ClearDue(*key);
      continue;
    }
    while (Client* client = blocked.NextFor(*key, number)) {
      const Entry* entry = store_.database(key->first).Find(key->second);
      if (entry == nullptr) {
        blocked.ClearDue(*key);
        break;
      }
      number = client->blocked->number;
      const Wait& wait = *client->blocked->wait;
      if (wait.CanServe(key->second, *entry, store_.now())) {
        RunAgain(*client, key->second);
      } else if (wait.scores() != nullptr) {
        DeferUntilDue(*client);
      }
    }
  }
}

// Serves clients that wait for scores which the time has reached, until none does or `budget` is
// spent. In a pause, and while a script is suspended, no key changes.
void Executor::ServeDueClients(Micros budget) {
  BlockedClients& blocked = notifier_.blocked_clients();
  if (!blocked.IsDue(store_.now()) || suspended_ || clients_.IsPaused()) return;
  const Micros until = host_.stopwatch() + budget;
  while (blocked.TouchDue(store_.now())) {
    ServeWaiters();
    if (host_.stopwatch() > until) return;
  }
}

void Executor::RunAgain(Client& client, std::string_view ready_key) {
  const Command& command = *client.blocked->command;
  const Args argv = client.blocked->argv.argv();
  if (const auto denial = access_.Check(client, command, argv, store_.now())) {
    metrics_.CountRejected(command);  // what its user may do has changed while it waited
    return EndWaitWithError(client, DenialLine(*denial, *client.user(), command));
  }
  const size_t reply_start = client.output.buffer.size();
  const Micros before = host_.stopwatch();
  client.executing = true;
  notifier_.set_active(&client);
  client.reply.Begin();
  store_.access_tracker().set_records(!client.no_touch);
  AdminCall call(engine_, client, command, argv, ready_key);
  RunAndPropagate(call);
  notifier_.set_active(nullptr);
  client.executing = false;
  EndUnit(client);
  const Micros took = host_.stopwatch() - before;
  metrics_.CountRun(took);
  client.blocked->used += took;
  if (call.waits()) return Finish(client, client.output.buffer.size());
  metrics_.CountCall(client, command, argv, client.blocked->used, store_.now());
  if (call.refused()) metrics_.CountFailed(command);
  EndWait(client, reply_start);
}

void Executor::EndWait(Client& client, size_t reply_start) {
  notifier_.blocked_clients().Remove(client);
  Finish(client, reply_start);
  client.connection.last_active = store_.now();
  client.NoteMemory();
  client.Wake();
}

// Counts a command that blocked and did not run again.
void Executor::CountWait(const Client& client) {
  const BlockedCommand& wait = *client.blocked;
  metrics_.CountCall(client, *wait.command, wait.argv.argv(), wait.used, store_.now());
}

void Executor::UnblockWithTimeout(Client& client) {
  CountWait(client);
  const size_t reply_start = client.output.buffer.size();
  client.reply.Begin();
  client.blocked->wait->GiveUp(client.reply);
  EndWait(client, reply_start);
}

// Waits that have ended otherwise are forgotten.
void Executor::ServeAcknowledgementWaits() {
  std::erase_if(acknowledgement_waits_, [&](const AcknowledgementWait& wait) {
    const auto found = clients_.all().find(wait.client);
    if (found == clients_.all().end()) return true;
    Client& client = *found->second;
    if (!client.blocked || client.blocked->number != wait.number) return true;
    if (!client.blocked->wait->IsAcknowledged()) return false;
    UnblockWithTimeout(client);
    return true;
  });
}

void Executor::UnblockWithError(Client& client, std::string_view error) {
  CountWait(client);
  metrics_.CountFailed(*client.blocked->command);
  EndWaitWithError(client, error);
}

void Executor::EndWithError(Client& client, const Command& command, std::string_view error) {
  const size_t reply_start = client.output.buffer.size();
  client.reply.Begin();
  client.reply.Error(error);
  metrics_.CountFailed(command);
  metrics_.CountError(error);
  Finish(client, reply_start);
  client.connection.last_active = store_.now();
  client.NoteMemory();
  client.Wake();
}

void Executor::EndWaitWithError(Client& client, std::string_view error) {
  const size_t reply_start = client.output.buffer.size();
  client.reply.Begin();
  client.reply.Error(error);
  metrics_.CountError(error);
  EndWait(client, reply_start);
}

void Executor::UnblockDueClients() {
  while (Client* client = notifier_.blocked_clients().FirstDue(store_.now()))
    UnblockWithTimeout(*client);
}

// One of them may start another pause.
void Executor::RunPostponed() {
  ClientPause& pause = clients_.pause();
  if (pause.postponed() == 0 || clients_.IsPaused() || suspended_) return;
  command_ended_at_ = host_.stopwatch();
  while (!clients_.IsPaused()) {
    const std::optional<ClientPause::PostponedRequest> held = pause.TakeFirst();
    if (!held) return;
    Answer(*held->client, held->argv.argv());
    held->client->Wake();
  }
}

bool Executor::MustWaitForExpiry(const Client& client, const Command& command, Args argv) {
  if (!store_.database(client.database).may_have_due_elements()) return false;
  if (suspended_ || clients_.IsPaused()) return false;
  return !overdue_.MayRun(client, command, argv);
}

bool Executor::MayOpen(int database, std::string_view key) {
  if (!store_.database(database).may_have_due_elements()) return true;
  return clients_.IsPaused() || overdue_.MayOpen(database, key);
}

// The requests take turns, so that one on a very large value does not delay all others. As many
// turns as there are requests: one that has had to wait for long is not tried twice.
void Executor::RunOverdue(Micros budget) {
  overdue_.BeginTick();
  if (overdue_.empty()) return;
  command_ended_at_ = host_.stopwatch();
  const Micros until = command_ended_at_ + budget;
  for (size_t turns = overdue_.size(); turns > 0 && !overdue_.empty(); --turns) {
    if (clients_.IsPaused() || suspended_) return;
    const Args argv = overdue_.first().postponed_request.argv();
    if (overdue_.ClearFirst(*commands_.Find(argv), until)) {
      const OverdueRequests::Request request = overdue_.TakeFirst();
      Answer(*request.client, request.argv.argv());
      request.client->Wake();
    } else {
      overdue_.MoveFirstToEnd();
    }
    if (host_.stopwatch() > until) return;
  }
}

}  // namespace zsetd
