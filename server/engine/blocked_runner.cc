#include "server/engine/blocked_runner.h"

#include <optional>
#include <utility>

#include "server/engine/command_run.h"
#include "server/engine/engine.h"
#include "server/engine/notify/active_client.h"
#include "server/engine/replies.h"
#include "server/engine/services/replica_registry.h"
#include "server/engine/services/services.h"

namespace zsetd {

BlockedRunner::BlockedRunner(Engine& engine, Replies& replies)
    : engine_(engine), replies_(replies) {}

void BlockedRunner::Block(Client& client, CommandRun& run) {
  engine_.notifier().blocked_clients().Add(client, std::move(*run.call().TakeWait()));
  client.blocked->used = run.took();
  const Wait& wait = *client.blocked->wait;
  if (wait.IsTimed()) {
    for (const BlockedCommand::Key& key : client.blocked->keys) DeferUntilDue(client, key);
  }
  if (!wait.AwaitsAcknowledgements()) return;
  acknowledgement_waits_.Add(client);
  engine_.services().replicas->AskForAcknowledgements();
}

// The key cannot serve the client now, whose wait is timed.
void BlockedRunner::DeferUntilDue(Client& client, const BlockedCommand::Key& key) {
  const Entry* const entry = engine_.store().database(key.first).Find(key.second);
  std::optional<Millis> due;
  if (entry != nullptr) due = client.blocked->wait->NextDue(*entry, engine_.store().now());
  engine_.notifier().blocked_clients().Defer(client, key, due);
}

void BlockedRunner::Serve() {
  BlockedClients& blocked = engine_.notifier().blocked_clients();
  while (const auto key = blocked.TakeReady()) {
    uint64_t number = 0;
    bool existed = true;
    if (!MayOpen(key->first, key->second)) {  // it changes again when more has been removed
      blocked.ClearDue(*key);
      continue;
    }
    while (Client* client = blocked.NextFor(*key, number)) {
      const Entry* entry = engine_.store().database(key->first).Find(key->second);
      if (entry == nullptr) {
        if (existed) blocked.ClearDue(*key);
        if (!blocked.HasWaitEndingWithoutKey()) break;
      }
      existed = entry != nullptr;
      number = client->blocked->number;
      if (client->connection.close_now) continue;  // the reply would be lost
      const Wait& wait = *client->blocked->wait;
      if (entry == nullptr) {
        if (wait.EndsWithoutKey()) RunAgain(*client, key->second);
      } else if (wait.CanServe(key->second, *entry, engine_.store().now())) {
        RunAgain(*client, key->second);
      } else if (wait.IsTimed()) {
        DeferUntilDue(*client, *key);
      }
    }
  }
}

bool BlockedRunner::MayOpen(int database, std::string_view key) {
  if (!engine_.store().database(database).may_have_due_elements()) return true;
  if (!engine_.mode().MayChangeByItself(engine_.store().now())) return true;
  return engine_.executor().overdue().MayOpen(database, key);
}

void BlockedRunner::ServeDue(Micros budget) {
  BlockedClients& blocked = engine_.notifier().blocked_clients();
  const Millis now = engine_.store().now();
  if (!blocked.IsDue(now) || !engine_.mode().MayChangeByItself(now)) return;
  const Host& host = engine_.host();
  const Micros until = host.stopwatch() + budget;
  while (blocked.TouchDue(engine_.store().now())) {
    Serve();
    if (host.stopwatch() > until) return;
  }
}

void BlockedRunner::RunAgain(Client& client, std::string_view ready_key) {
  const Command& command = *client.blocked->command;
  const Args argv = client.blocked->argv.argv();
  const auto denial = engine_.access().Check(client, command, argv, engine_.store().now());
  if (denial) {
    engine_.metrics().CountRejected(command);  // the user's permissions changed during the wait
    return EndWait(client, WriteError(client, DenialLine(*denial, *client.user(), command)));
  }
  if (engine_.routing().IsOn()) {  // the slot may have moved during the wait
    const std::optional<std::string> why = engine_.routing().WhyWaitEnds(client);
    if (why) return UnblockWithError(client, *why);
  }
  const size_t reply_start = client.output.buffer.size();
  engine_.clock().Restart();
  client.reply.Begin();
  Unit unit(engine_.effects());
  CommandRun run(engine_, CommandRun::Origin::kServed, {client, command, argv},
                 client.blocked->used, ready_key);
  CommandRun::Result result;
  {
    const ActiveClient active(engine_.notifier(), client);
    result = run.Run();
  }
  engine_.units().End(std::move(unit), client);
  client.blocked->used = run.took();
  if (result == CommandRun::Result::kWaits) {
    return replies_.End(client, client.output.buffer.size());
  }
  EndWait(client, reply_start);
}

void BlockedRunner::EndWait(Client& client, size_t reply_start) {
  engine_.notifier().blocked_clients().Remove(client);
  End(client, reply_start);
}

void BlockedRunner::End(Client& client, size_t reply_start) {
  replies_.End(client, reply_start);
  client.connection.last_active = engine_.store().now();
  client.NoteMemory();
  client.mailbox.Wake();
}

// Counts a command that waited and did not run again.
void BlockedRunner::CountWait(const Client& client) {
  const BlockedCommand& wait = *client.blocked;
  engine_.metrics().CountCall(client, *wait.command, wait.argv.argv(), wait.used,
                              engine_.store().now());
}

void BlockedRunner::UnblockWithTimeout(Client& client) {
  CountWait(client);
  const size_t reply_start = client.output.buffer.size();
  client.reply.Begin();
  client.blocked->wait->GiveUp(client.reply);
  if (client.reply.failed()) {
    engine_.metrics().CountFailed(*client.blocked->command);
    engine_.metrics().CountError(client.output.buffer.view().substr(reply_start + 1));
  }
  EndWait(client, reply_start);
}

void BlockedRunner::ServeAcknowledged() {
  if (acknowledgement_waits_.empty()) [[likely]]
    return;
  acknowledgement_waits_.ServeAcknowledged(engine_.clients().all(),
                                           [this](Client& client) { UnblockWithTimeout(client); });
}

void BlockedRunner::UnblockWithError(Client& client, std::string_view error) {
  CountWait(client);
  engine_.metrics().CountFailed(*client.blocked->command);
  EndWait(client, WriteError(client, error));
}

void BlockedRunner::EndWithError(Client& client, const Command& command, std::string_view error) {
  engine_.metrics().CountFailed(command);
  End(client, WriteError(client, error));
}

// Returns where the error begins in the client's output.
size_t BlockedRunner::WriteError(Client& client, std::string_view error) {
  const size_t reply_start = client.output.buffer.size();
  client.reply.Begin();
  client.reply.Error(error);
  engine_.metrics().CountError(error);
  return reply_start;
}

void BlockedRunner::EndMisroutedWaits() {
  for (const auto& [id, client] : engine_.clients().all()) {
    if (!client->blocked) continue;
    const std::optional<std::string> why = engine_.routing().WhyWaitEnds(*client);
    if (why) UnblockWithError(*client, *why);
  }
}

void BlockedRunner::EndDueWaits() {
  BlockedClients& blocked = engine_.notifier().blocked_clients();
  while (Client* client = blocked.FirstDue(engine_.store().now())) UnblockWithTimeout(*client);
}

}  // namespace zsetd
