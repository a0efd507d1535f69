#include "server/replication/replication_service.h"

#include <optional>
#include <string_view>
#include <utility>

#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr std::string_view kRoleChanged =
    "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)";

}  // namespace

ReplicationService::ReplicationService(Engine& engine, PersistenceService& persistence,
                                       Connector& connector, const ReplicationLog& log)
    : engine_(engine),
      persistence_(persistence),
      log_(log),
      follower_(engine, persistence, connector, *this, log) {
  if (MasterIn(engine.settings())) BecomeReplica();
}

// Connections end after it.
ReplicationService::~ReplicationService() { engine_.services().replication = nullptr; }

// A master remembers the history, for replicas that were at its end.
void ReplicationService::OnLoaded() {
  const std::optional<SnapshotPosition>& saved = persistence_.loaded_position();
  const std::optional<MasterAddress> master = MasterIn(engine_.settings());
  if (!master) {
    if (saved) engine_.replication().Resume(saved->id, saved->offset);
    return;
  }
  if (saved) engine_.replication().Join(saved->id, saved->offset);
  follower_.Start(*master, saved ? std::optional(saved->database) : std::nullopt);
}

void ReplicationService::BecomeReplica() {
  engine_.replication().set_is_replica(true);
  engine_.store().set_keeps_due_elements(true);
}

// What the server has as a master is a place in a history, too: another replica that is promoted
// may continue from there. But if what was propagated went nowhere it has not been counted.
void ReplicationService::Follow(std::string host, int64_t port) {
  const bool was_replica = engine_.replication().is_replica();
  if (!was_replica && !engine_.effects().has_stream()) engine_.replication().Restart();
  const bool has_history = was_replica ? follower_.has_history() : true;
  const int database = was_replica ? follower_.stream_database() : 0;
  Settings settings = engine_.settings();
  settings.replicaof = host + " " + std::to_string(port);
  (void)engine_.Configure(settings);  // which checks nothing of this
  BecomeReplica();
  if (!was_replica) UnblockClients();
  follower_.Start({std::move(host), port}, has_history ? std::optional(database) : std::nullopt);
}

void ReplicationService::UnblockClients() {
  for (const auto& [id, client] : engine_.clients().all()) {
    if (client->blocked) engine_.executor().UnblockWithError(*client, kRoleChanged);
  }
}

void ReplicationService::Promote() {
  const bool has_history = follower_.has_history();
  follower_.Stop();
  Settings settings = engine_.settings();
  settings.replicaof.clear();
  (void)engine_.Configure(settings);
  if (has_history) {
    engine_.replication().Branch();
  } else {
    engine_.replication().Restart();
  }
  engine_.replication().set_is_replica(false);
  engine_.store().set_keeps_due_elements(false);
  engine_.effects().ForgetDatabase();
  persistence_.ResumeLog();
  log_.notice("MASTER MODE enabled");
}

ReplicaOptions& ReplicationService::OptionsOf(Client&) { return options_; }

absl::Status ReplicationService::Synchronize(Client&, const StreamPosition&) {
  return Refusal("ERR this server has no replicas");
}

absl::Status ReplicationService::SynchronizeByOldProtocol(Client&) {
  return Refusal("ERR this server has no replicas");
}

void ReplicationService::Acknowledge(Client&, int64_t, std::optional<int64_t>) {}

absl::Status ReplicationService::StartFailover(const FailoverRequest&) {
  return Refusal("ERR FAILOVER requires connected replicas.");
}

absl::Status ReplicationService::AbortFailover() { return Refusal("ERR No failover in progress."); }

}  // namespace zsetd
