#include "server/replication/replication_service.h"

#include <utility>

#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr std::string_view kRoleChanged =
    "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)";

}  // namespace

ReplicationService::ReplicationService(Engine& engine, PersistenceService& persistence,
                                       FileSystem& files, Connector& connector,
                                       const ServerLog& log, Replicas::Post post)
    : engine_(engine),
      persistence_(persistence),
      log_(log),
      replicas_(engine, persistence, files, log_, std::move(post)),
      follower_(engine, persistence, connector, *this, log_),
      failover_(engine, replicas_,
                [this](const MasterAddress& target) { Follow(target, /*takes_over=*/true); }) {
  if (MasterIn(engine.settings())) BecomeReplica();
}

// Connections end after it.
ReplicationService::~ReplicationService() { engine_.services().replication = nullptr; }

// A master remembers the history, for replicas that were at its end.
void ReplicationService::OnLoaded() {
  const std::optional<HistoryPlace>& saved = persistence_.loaded_position();
  const std::optional<MasterAddress> master = MasterIn(engine_.settings());
  if (!master) {
    if (!saved) return;
    engine_.replication().Resume(saved->id, saved->offset);
    return replicas_.EnsureBacklog();
  }
  if (saved) engine_.replication().Join(saved->id, saved->offset);
  replicas_.EnsureBacklog();
  follower_.Start(*master, saved ? std::optional(saved->database) : std::nullopt);
}

// Keys and elements stay until the master removes them, and the stream is the master's.
void ReplicationService::BecomeReplica() {
  engine_.replication().set_is_replica(true);
  engine_.store().set_keeps_due_elements(true);
  engine_.effects().set_passes_on(true);
}

void ReplicationService::Follow(std::string host, int64_t port) {
  Follow({std::move(host), port}, /*takes_over=*/false);
}

// What the server has as a master is a place in a history, too: another replica that is promoted
// may continue from there. But if what was propagated went nowhere it has not been counted.
void ReplicationService::Follow(const MasterAddress& master, bool takes_over) {
  const bool was_replica = engine_.replication().is_replica();
  if (!was_replica && !engine_.effects().has_stream()) engine_.replication().Restart();
  const bool has_history = was_replica ? follower_.has_history() : true;
  const int database = persistence_.dataset().place().database;
  NameMaster(master.host + " " + std::to_string(master.port));
  if (!was_replica) BecomeReplica();
  if (!was_replica) UnblockClients();
  replicas_.EnsureBacklog();
  replicas_.DisconnectAll();
  follower_.Start(master, has_history ? std::optional(database) : std::nullopt, takes_over);
}

void ReplicationService::NameMaster(std::string text) {
  Settings settings = engine_.settings();
  settings.replicaof = std::move(text);
  (void)engine_.Configure(settings);  // which checks nothing of this
}

void ReplicationService::UnblockClients() {
  for (const auto& [id, client] : engine_.clients().all()) {
    if (client->blocked) engine_.executor().UnblockWithError(*client, kRoleChanged);
  }
}

// Replicas of the old master continue with the history that this server has followed until here.
void ReplicationService::Promote() {
  const bool has_history = follower_.has_history();
  follower_.Stop();
  NameMaster("");
  if (has_history) {
    engine_.replication().Branch();
  } else {
    engine_.replication().Restart();
  }
  engine_.replication().set_is_replica(false);
  engine_.store().set_keeps_due_elements(false);
  engine_.effects().set_passes_on(false);
  replicas_.EnsureBacklog();
  replicas_.DisconnectAll();
  persistence_.ResumeLog();
  log_.notice("MASTER MODE enabled");
}

absl::Status ReplicationService::AbortFailover() {
  if (!failover_.IsOn()) return Refusal("ERR No failover in progress.");
  const bool was_replica = failover_.IsHandingOver();
  failover_.End();
  if (was_replica) Promote();
  log_.notice("Failover aborted.");
  return absl::OkStatus();
}

void ReplicationService::Tick() {
  replicas_.set_pings(!failover_.IsOn());  // a replica that takes over has all
  replicas_.Tick();
  follower_.Tick();
  if (!failover_.IsOn()) return;
  const bool fails =
      failover_.HasTimedOut() || (failover_.IsHandingOver() && follower_.IsTakeoverRefused());
  if (fails) return (void)AbortFailover();
  failover_.Tick();
  if (failover_.IsHandingOver() && !follower_.IsTakingOver()) failover_.End();
}

void ReplicationService::OnNewHistory() { replicas_.ResetBacklog(); }

// Our replicas know it by the one of before.
void ReplicationService::OnNewId() { replicas_.DisconnectAll(); }

}  // namespace zsetd
