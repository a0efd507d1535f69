// Blocking commands. One that finds nothing to do blocks (Call::WaitFor); its arguments are kept
// and it is run again when one of its keys has changed, until it succeeds or its timeout elapses.
// That happens between commands, never inside a transaction. A command that CLIENT PAUSE has
// postponed has not started; it is run for the first time after the pause.

#include <optional>
#include <string_view>

#include "server/engine/call.h"
#include "server/engine/engine.h"

namespace zsetd {

bool Engine::Wait(Client& client, zsetd::Wait wait) {
  if (client.transaction.open || client.in_script) return false;
  if (!client.wait) waiters_.Add(client, std::move(wait));
  return true;
}

void Engine::ServeWaiters() {
  while (const auto key = waiters_.TakeReady()) {
    uint64_t number = 0;
    while (Client* client = waiters_.NextFor(*key, number)) {
      const Entry* entry = databases_[key->first]->Find(key->second);
      if (entry == nullptr) break;
      number = client->wait->number;
      if (client->wait->can_serve(*entry)) RunAgain(*client, key->second);
    }
  }
}

void Engine::RunAgain(Client& client, std::string_view ready_key) {
  const Command& command = *client.wait->command;
  const Words words = client.wait->words.words();
  if (const auto denial = access_.Check(client, command, words, now_)) {
    ++commands_.stats(command).rejected;  // what its user may do has changed while it waited
    return EndWaitWithError(client, DenialLine(*denial, *client.user, command));
  }
  const size_t reply_start = client.out.size();
  const Micros before = host_.stopwatch();
  client.executing = true;
  active_ = &client;
  client.reply.Begin();
  use_meter_.set_notes(!client.no_touch);
  Call call(*this, client, command, words, ready_key);
  command.run(call);
  active_ = nullptr;
  client.executing = false;
  const Micros took = host_.stopwatch() - before;
  stats_.command_time += took;
  client.wait->used += took;
  if (call.waits()) return Finish(client, client.out.size());
  CountCall(client, command, words, client.wait->used);
  if (call.refused()) ++commands_.stats(command).failed;
  EndWait(client, reply_start);
}

void Engine::EndWait(Client& client, size_t reply_start) {
  waiters_.Remove(client);
  Finish(client, reply_start);
  client.last_active = now_;
  client.NoteMemory();
  client.Wake();
}

// Counts a command that blocked and did not run again.
void Engine::CountWait(const Client& client) {
  const zsetd::Wait& wait = *client.wait;
  CountCall(client, *wait.command, wait.words.words(), wait.used);
}

void Engine::GiveUp(Client& client) {
  CountWait(client);
  const size_t reply_start = client.out.size();
  client.reply.Begin();
  client.wait->give_up(client.reply);
  EndWait(client, reply_start);
}

void Engine::BreakOff(Client& client, std::string_view error) {
  CountWait(client);
  ++commands_.stats(*client.wait->command).failed;
  EndWaitWithError(client, error);
}

void Engine::EndWaitWithError(Client& client, std::string_view error) {
  const size_t reply_start = client.out.size();
  client.reply.Begin();
  client.reply.Error(error);
  stats_.CountError(error);
  EndWait(client, reply_start);
}

void Engine::GiveUpDueWaits() {
  while (Client* client = waiters_.FirstDue(now_)) GiveUp(*client);
}

// One of them may start another pause.
void Engine::RunHeldBack() {
  if (pause_.held_back() == 0 || pause_.IsOn(now_) || suspended_) return;
  command_ended_at_ = host_.stopwatch();
  while (!pause_.IsOn(now_)) {
    const std::optional<Pause::HeldBack> held = pause_.TakeFirst();
    if (!held) return;
    Answer(*held->client, held->words.words());
    held->client->Wake();
  }
}

}  // namespace zsetd
