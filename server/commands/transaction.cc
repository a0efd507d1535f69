#include <string_view>
#include <utility>
#include <vector>

#include "server/commands/families.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

// Ends the client's transaction and its watches; what was queued is returned.
std::vector<QueuedCommand> EndTransaction(Call& call) {
  Transaction& transaction = call.client.transaction;
  call.engine.watches().RemoveAll(call.client);
  transaction.open = transaction.broken = false;
  return std::exchange(transaction.queue, {});
}

// A watched key may be past its deadline and not freed yet: that is a change too.
void ReclaimWatched(Call& call) {
  const auto watched = call.client.transaction.watched;
  for (const auto& [database, key] : watched) call.engine.database(database).Open(key);
}

void Multi(Call& call) {
  if (call.client.transaction.open) return call.Fail("ERR MULTI calls can not be nested");
  call.client.transaction.open = true;
  call.reply.Ok();
}

void Exec(Call& call) {
  Transaction& transaction = call.client.transaction;
  if (!transaction.open) return call.Fail("ERR EXEC without MULTI");
  ReclaimWatched(call);
  const bool broken = transaction.broken;
  const bool touched = transaction.touched;
  const std::vector<QueuedCommand> queue = EndTransaction(call);
  if (broken) {
    return call.Fail("EXECABORT Transaction discarded because of previous errors.");
  }
  if (touched) return call.reply.NullArray();
  call.reply.Array(queue.size());
  for (const QueuedCommand& queued : queue) call.engine.RunQueued(call.client, queued);
}

void Discard(Call& call) {
  if (!call.client.transaction.open) return call.Fail("ERR DISCARD without MULTI");
  EndTransaction(call);
  call.reply.Ok();
}

// A key that is past its deadline already is reclaimed first, so that this is no change later.
void Watch(Call& call) {
  if (call.client.transaction.open) return call.Fail("ERR WATCH inside MULTI is not allowed");
  for (const std::string_view key : call.args.Rest()) {
    call.database().Open(key);
    call.engine.watches().Add(call.client, call.client.database, key);
  }
  call.reply.Ok();
}

void Unwatch(Call& call) {
  call.engine.watches().RemoveAll(call.client);
  call.reply.Ok();
}

constexpr uint32_t kFlags = kNoScript | kLoading | kStale | kFast | kAllowBusy;

constexpr Command kCommands[] = {
    {.name = "multi",
     .run = Multi,
     .arity = 1,
     .flags = kFlags | kNotQueued,
     .group = CommandGroup::kTransactions,
     .since = "1.2.0",
     .summary = "Starts a transaction: what follows is queued.",
     .cost = "O(1)"},
    {.name = "exec",
     .run = Exec,
     .arity = 1,
     .flags = kNoScript | kLoading | kStale | kSkipSlowlog | kNotQueued,
     .group = CommandGroup::kTransactions,
     .since = "1.2.0",
     .summary = "Runs what was queued, unless a watched key has changed.",
     .cost = "That of the commands queued"},
    {.name = "discard",
     .run = Discard,
     .arity = 1,
     .flags = kFlags | kNotQueued,
     .group = CommandGroup::kTransactions,
     .since = "2.0.0",
     .summary = "Drops what was queued, and the watches.",
     .cost = "O(N) for N commands queued"},
    {.name = "watch",
     .run = Watch,
     .arity = -2,
     .flags = kFlags | kNotQueued,
     .keys = kAllKeys,
     .group = CommandGroup::kTransactions,
     .since = "2.2.0",
     .usage = "key [key ...]",
     .summary = "Makes the next transaction depend on these keys staying as they are.",
     .cost = "O(1) for each key"},
    {.name = "unwatch",
     .run = Unwatch,
     .arity = 1,
     .flags = kFlags,
     .group = CommandGroup::kTransactions,
     .since = "2.2.0",
     .summary = "Forgets all watched keys.",
     .cost = "O(1)"},
};

}  // namespace

std::span<const Command> TransactionCommands() { return kCommands; }

}  // namespace zsetd
