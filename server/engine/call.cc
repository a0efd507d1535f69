#include "server/engine/call.h"

#include <utility>
#include <vector>

namespace zsetd {

bool Call::Refused() {
  if (!args.ok()) Fail(args.status());
  return refused_;
}

void Call::Fail(std::string_view line) {
  reply.Error(line);
  engine.metrics().CountError(line);
  refused_ = true;
}

void Call::FailCounted(std::string_view line) {
  reply.Error(line);
  refused_ = true;
}

void Call::Propagate(Args words) {
  if (!Propagates()) return;
  engine.effects().Add(client.database, words);
  engine.effects().set_stated(true);
}

void Call::Propagate(std::initializer_list<std::string_view> words) {
  Propagate(Args(words.begin(), words.size()));
}

// By its original name, whatever the client called it.
void Call::PropagateRequest() {
  if (!Propagates()) return;
  Effects& effects = engine.effects();
  effects.Begin(client.database, argv_.size());
  effects.AddWord(command.name.substr(0, command.name.find('|')));
  for (const std::string_view word : argv_.subspan(1)) effects.AddWord(word);
  effects.set_stated(true);
}

void Call::PropagateMessage() {
  if (!engine.effects().TakesMessages()) return;
  std::vector<std::string_view> words(argv_.begin(), argv_.end());
  words[0] = command.name;
  engine.effects().AddMessage(words);
}

void Call::ReplyAtLength(std::unique_ptr<LongReply> rest) {
  if (!client.transaction.open && !client.in_script) {
    client.long_reply = std::move(rest);
    return;
  }
  while (rest->WriteNext(reply) && !reply.IsFull()) {
  }
}

bool Call::PutAside(Args keys, Millis timeout, bool (*can_serve)(const Entry&),
                    void (*give_up)(ReplyWriter&)) {
  BlockedCommand wait = {.command = &command,
                         .argv = OwnedArgs(argv_),
                         .keys = {},
                         .until = std::nullopt,
                         .can_serve = can_serve,
                         .give_up = give_up};
  for (const std::string_view key : keys) wait.keys.emplace_back(client.database, key);
  if (timeout > Millis(0)) wait.until = now() + timeout;
  return waits_ = engine.Block(client, std::move(wait));
}

const Entry* Call::Peek(std::string_view key) {
  const bool in_writing_transaction = client.transaction.open && client.transaction.may_write;
  const bool reclaims = command.Has(kWrite) || in_writing_transaction || !engine.expires_unasked();
  return reclaims ? database().Open(key) : database().Use(key);
}

const Entry* Call::Find(std::string_view key) {
  const Entry* entry = Peek(key);
  if (entry == nullptr && command.Has(kReadOnly)) engine.OnMiss(client.database, key);
  Stats& stats = engine.metrics().stats();
  ++(entry != nullptr ? stats.keyspace_hits : stats.keyspace_misses);
  return entry;
}

}  // namespace zsetd
