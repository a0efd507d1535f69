#include "server/engine/port/concurrent_reads.h"

#include <cassert>

#include "server/engine/call.h"
#include "server/engine/engine.h"
#include "server/engine/store/shared_read.h"

namespace zsetd {

ConcurrentReads::ConcurrentReads(Engine& engine) : engine_(engine), clock_(engine.host()) {
  engine.metrics().AddThread(counts_);
}

ConcurrentReads::~ConcurrentReads() { engine_.metrics().RemoveThread(counts_); }

std::optional<FoundCommands> ConcurrentReads::Find(std::span<const Args> requests) {
  const size_t before = found_.size();
  for (const Args argv : requests) {
    const Command* command = engine_.commands().Find(argv);
    const bool reads =
        command != nullptr && command->concurrent && command->AcceptsCount(argv.size());
    if (!reads) {
      found_.resize(before);
      return std::nullopt;
    }
    found_.push_back(command);
  }
  return FoundCommands{.next = before, .end = found_.size()};
}

const Command* ConcurrentReads::Next(Args argv, FoundCommands& found) const {
  if (found.next == found.end) return engine_.commands().Find(argv);
  assert(found.next < found.end && found.end <= found_.size());
  const Command* command = found_[found.next++];
  assert(command == engine_.commands().Find(argv));
  return command;
}

bool ConcurrentReads::MayBegin(Millis now) {
  const Store& store = engine_.store();
  const ReplyHolds& holds = engine_.reply_holds();
  const Settings& settings = engine_.settings();
  const bool may = store.now() == now && engine_.mode().IsIdleApartFromRole() &&
                   !store.nothing_due() && store.expires_actively() && store.HasRoom() &&
                   !store.access_tracker().rule().lfu && settings.maxmemory_clients == 0 &&
                   !settings.cluster_slot_stats_enabled && !engine_.notifier().has_monitors() &&
                   !holds.IsOn() && !holds.log_is_unwritten() &&
                   engine_.metrics().MayCountReads() &&
                   (!engine_.mode().is_replica() || engine_.replication().CheckStale().ok());
  if (may) clock_.Restart();
  return may;
}

bool ConcurrentReads::MayServe(const Client& client) const {
  const bool is_plain = !client.transaction.open && !client.tracking().on && !client.asking &&
                        !client.monitors() && !client.IsReplica() && !client.IsWaiting() &&
                        !client.ReplyInProgress();
  const bool replies = client.output.reply_mode == ClientOutput::ReplyMode::kOn &&
                       client.output.pending_pushes.empty();
  return is_plain && replies && !client.IsSubscriber() && !client.connection.close_now &&
         !client.connection.close_after_reply && !engine_.access().MustAuthenticate(client);
}

bool ConcurrentReads::MayRun(Client& client, const Command& command, Args argv) const {
  if (!command.concurrent || !command.AcceptsCount(argv.size())) return false;
  if (!AccessControl::Permits(client, command, argv)) return false;
  return !engine_.routing().IsOn() || engine_.routing().Serves(client, command, argv);
}

bool ConcurrentReads::Run(Client& client, Args argv, FoundCommands& found) {
  assert(MayServe(client));
  const Command* command = Next(argv, found);
  if (command == nullptr || !MayRun(client, *command, argv)) return false;
  SharedRead read;
  client.reply.Begin();
  {
    Call call(engine_.store(), engine_.metrics(), engine_.effects(), client, *command, argv, read);
    command->run.RunOnKeys(call);
  }
  if (read.must_run_alone || client.reply.IsFull()) {
    client.reply.Discard();
    return false;
  }
  const Millis now = engine_.store().now();
  counts_.hits += read.hits;
  counts_.misses += read.misses;
  engine_.metrics().CountRead(counts_, client, *command, argv, clock_.EndCommand(), now);
  client.last_command = command->name;
  client.connection.last_active = now;
  ++client.commands_run;
  return true;
}

}  // namespace zsetd
