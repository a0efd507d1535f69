#include <cassert>
#include <string_view>
#include <vector>

#include "server/commands/transaction/families.h"
#include "server/engine/admin_call.h"

namespace zsetd {
namespace {

// A watched key may be past its deadline but not yet deleted. Deletes it, which counts as a change.
void ReclaimWatched(AdminCall& call) {
  for (const WatchedKey* key : call.caller.transaction.watched()) {
    call.engine.store().database(key->database).Open(key->name);
  }
}

void Multi(AdminCall& call) {
  if (call.caller.transaction.open) return call.Fail("ERR MULTI calls can not be nested");
  call.caller.transaction.open = true;
  call.reply.Ok();
}

// Runs the rest of the queue. If a script in the queue is suspended, stops, and EXEC runs again
// when the script has ended.
void RunQueue(AdminCall& call) {
  Transaction& transaction = call.caller.transaction;
  assert(transaction.running);
  while (transaction.next < transaction.queue.size() && !call.caller.suspended) {
    call.engine.executor().RunQueued(call.client(), transaction.queue[transaction.next++]);
  }
}

// Removes the watches first, so that queued commands do not affect them.
void StartQueue(AdminCall& call) {
  Transaction& transaction = call.caller.transaction;
  assert(!transaction.broken && !transaction.touched);
  call.engine.notifier().watches().RemoveAll(call.client());
  call.reply.Array(transaction.queue.size());
  transaction.running = true;
  RunQueue(call);
}

// The transaction stays open until its end, so that CLIENT INFO reports it.
void Exec(AdminCall& call) {
  const Transaction& transaction = call.caller.transaction;
  if (!transaction.open) return call.Fail("ERR EXEC without MULTI");
  if (!transaction.running) ReclaimWatched(call);
  if (transaction.running) {
    RunQueue(call);
  } else if (transaction.broken) {
    call.Fail("EXECABORT Transaction discarded because of previous errors.");
  } else if (transaction.touched) {
    call.reply.NullArray();
  } else {
    StartQueue(call);
  }
  if (call.caller.suspended) return;
  call.engine.notifier().EndTransaction(call.client());
}

void Discard(AdminCall& call) {
  if (!call.caller.transaction.open) return call.Fail("ERR DISCARD without MULTI");
  call.engine.notifier().EndTransaction(call.client());
  call.reply.Ok();
}

// Deletes a key that is already past its deadline, so that its later deletion does not count as a
// change.
void Watch(AdminCall& call) {
  if (call.caller.transaction.open) return call.Fail("ERR WATCH inside MULTI is not allowed");
  for (const std::string_view key : call.args.Rest()) {
    call.database().Open(key);
    call.engine.notifier().watches().Add(call.client(), call.caller.database, key);
  }
  call.reply.Ok();
}

void Unwatch(AdminCall& call) {
  call.engine.notifier().watches().RemoveAll(call.client());
  call.reply.Ok();
}

constexpr uint32_t kFlags = kNoScript | kLoading | kStale | kFast | kAllowBusy;

constexpr Command kTransactionCommands[] = {
    {.name = "multi",
     .run = Multi,
     .arity = 1,
     .flags = kFlags | kNotQueuedInMulti,
     .group = CommandGroup::kTransactions,
     .since = "1.2.0",
     .summary = "Starts a transaction.",
     .cost = "O(1)"},
    {.name = "exec",
     .run = Exec,
     .arity = 1,
     .flags = kNoScript | kLoading | kStale | kSkipSlowlog | kNotQueuedInMulti | kEndsTransaction |
              kRunsTransaction,
     .group = CommandGroup::kTransactions,
     .since = "1.2.0",
     .summary = "Executes a transaction, unless a watched key has changed.",
     .cost = "Depends on the queued commands"},
    {.name = "discard",
     .run = Discard,
     .arity = 1,
     .flags = kFlags | kNotQueuedInMulti,
     .group = CommandGroup::kTransactions,
     .since = "2.0.0",
     .summary = "Discards a transaction and its watches.",
     .cost = "O(N) for N queued commands"},
    {.name = "watch",
     .run = Watch,
     .arity = -2,
     .flags = kFlags | kNotQueuedInMulti | kKeepsMemory,
     .keys = kAllKeys,
     .group = CommandGroup::kTransactions,
     .since = "2.2.0",
     .usage = "key [key ...]",
     .summary = "Watches keys; EXEC fails if one of them has changed.",
     .cost = "O(1) for each key",
     .key_use = "RO"},
    {.name = "unwatch",
     .run = Unwatch,
     .arity = 1,
     .flags = kFlags,
     .group = CommandGroup::kTransactions,
     .since = "2.2.0",
     .summary = "Unwatches all keys.",
     .cost = "O(1)"},
};

}  // namespace

std::span<const Command> TransactionCommands() { return kTransactionCommands; }

}  // namespace zsetd
