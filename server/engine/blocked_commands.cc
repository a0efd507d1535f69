// Blocking commands. One that finds nothing to do blocks (Call::WaitFor); its arguments are kept
// and it is run again when one of its keys has changed, until it succeeds or its timeout elapses.
// That happens between commands, never inside a transaction. A command that CLIENT PAUSE has
// postponed has not started; it is run for the first time after the pause.

#include <optional>
#include <string_view>

#include "server/engine/call.h"
#include "server/engine/engine.h"

namespace zsetd {

bool Engine::Block(Client& client, BlockedCommand wait) {
  if (client.transaction.open || client.in_script) return false;
  if (!client.blocked) blocked_clients_.Add(client, std::move(wait));
  return true;
}

void Engine::ServeWaiters() {
  while (const auto key = blocked_clients_.TakeReady()) {
    uint64_t number = 0;
    while (Client* client = blocked_clients_.NextFor(*key, number)) {
      const Entry* entry = databases_[key->first]->Find(key->second);
      if (entry == nullptr) break;
      number = client->blocked->number;
      if (client->blocked->can_serve(*entry)) RunAgain(*client, key->second);
    }
  }
}

void Engine::RunAgain(Client& client, std::string_view ready_key) {
  const Command& command = *client.blocked->command;
  const Args argv = client.blocked->argv.argv();
  if (const auto denial = access_.Check(client, command, argv, now_)) {
    metrics_.CountRejected(command);  // what its user may do has changed while it waited
    return EndWaitWithError(client, DenialLine(*denial, *client.user, command));
  }
  const size_t reply_start = client.output.size();
  const Micros before = host_.stopwatch();
  client.executing = true;
  active_ = &client;
  client.reply.Begin();
  access_tracker_.set_records(!client.no_touch);
  Call call(*this, client, command, argv, ready_key);
  RunAndPropagate(call);
  active_ = nullptr;
  client.executing = false;
  EndUnit(client);
  const Micros took = host_.stopwatch() - before;
  metrics_.CountRun(took);
  client.blocked->used += took;
  if (call.waits()) return Finish(client, client.output.size());
  metrics_.CountCall(client, command, argv, client.blocked->used, now_);
  if (call.refused()) metrics_.CountFailed(command);
  EndWait(client, reply_start);
}

void Engine::EndWait(Client& client, size_t reply_start) {
  blocked_clients_.Remove(client);
  Finish(client, reply_start);
  client.last_active = now_;
  client.NoteMemory();
  client.Wake();
}

// Counts a command that blocked and did not run again.
void Engine::CountWait(const Client& client) {
  const BlockedCommand& wait = *client.blocked;
  metrics_.CountCall(client, *wait.command, wait.argv.argv(), wait.used, now_);
}

void Engine::UnblockWithTimeout(Client& client) { Unblock(client, client.blocked->give_up); }

void Engine::Unblock(Client& client, void (*reply)(ReplyWriter&)) {
  CountWait(client);
  const size_t reply_start = client.output.size();
  client.reply.Begin();
  reply(client.reply);
  EndWait(client, reply_start);
}

void Engine::AwaitLog(const Client& client, void (*reply)(ReplyWriter&)) {
  log_waits_.push_back({client.id, client.blocked->number, reply});
}

// Waits that have ended otherwise are forgotten.
void Engine::ServeLogWaits() {
  const uint64_t durable = persistence_->DurablePosition();
  std::erase_if(log_waits_, [&](const LogWait& wait) {
    const auto found = clients_.find(wait.client);
    if (found == clients_.end()) return true;
    Client& client = *found->second;
    if (!client.blocked || client.blocked->number != wait.number) return true;
    if (client.propagated_until > durable) return false;
    Unblock(client, wait.reply);
    return true;
  });
}

void Engine::UnblockWithError(Client& client, std::string_view error) {
  CountWait(client);
  metrics_.CountFailed(*client.blocked->command);
  EndWaitWithError(client, error);
}

void Engine::EndWaitWithError(Client& client, std::string_view error) {
  const size_t reply_start = client.output.size();
  client.reply.Begin();
  client.reply.Error(error);
  metrics_.CountError(error);
  EndWait(client, reply_start);
}

void Engine::UnblockDueClients() {
  while (Client* client = blocked_clients_.FirstDue(now_)) UnblockWithTimeout(*client);
}

// One of them may start another pause.
void Engine::RunPostponed() {
  if (pause_.postponed() == 0 || pause_.IsOn(now_) || suspended_) return;
  command_ended_at_ = host_.stopwatch();
  while (!pause_.IsOn(now_)) {
    const std::optional<ClientPause::PostponedRequest> held = pause_.TakeFirst();
    if (!held) return;
    Answer(*held->client, held->argv.argv());
    held->client->Wake();
  }
}

}  // namespace zsetd
