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

// The keys and elements of a replica stay until the master removes them.
void ReplicationService::SetRole(bool is_replica) {
  engine_.replication().set_is_replica(is_replica);
  engine_.store().set_leaves_expiry_to_master(is_replica);
}

// The stream is the master's.
void ReplicationService::BecomeReplica() {
  SetRole(true);
  engine_.effects().set_passes_on(true);
}

void ReplicationService::Follow(std::string host, int64_t port, std::string_view request) {
  const MasterAddress master = {std::move(host), port};
  Follow(master, /*takes_over=*/false);
  log_.notice("REPLICAOF " + master.host + ":" + std::to_string(port) + " enabled (" +
              std::string(request) + ")");
}

// The role and the setting change immediately, which the rest of a transaction (CONFIG REWRITE) may
// depend on. The changes of the transaction are those of a master.
void ReplicationService::Follow(const MasterAddress& master, bool takes_over) {
  NameMaster(master.host + " " + std::to_string(master.port));
  if (!engine_.replication().is_replica()) {
    SetRole(true);
    UnblockClients();
  }
  next_master_ = {master, takes_over};
  engine_.executor().AfterUnit([this] { JoinNextMaster(); });
}

// A master is at a place in a history, too: another replica that is promoted may continue from
// there. Changes that were propagated to no stream have not been counted.
void ReplicationService::JoinNextMaster() {
  if (!next_master_) return;  // REPLICAOF NO ONE came after it in the transaction
  const NextMaster next = *std::exchange(next_master_, std::nullopt);
  ReplicationState& state = engine_.replication();
  const bool was_replica = engine_.effects().passes_on();
  if (!was_replica && !engine_.effects().has_stream()) state.Restart();
  const bool has_history = was_replica ? follower_.has_history() : true;
  const int database =
      was_replica ? state.stream_database() : engine_.effects().database().value_or(0);
  if (!was_replica) BecomeReplica();
  replicas_.EnsureBacklog();
  replicas_.DisconnectAll();
  follower_.Start(next.address, has_history ? std::optional(database) : std::nullopt,
                  next.takes_over);
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
// Within a transaction that is the beginning of its unit, which they receive as a whole.
void ReplicationService::Promote(std::string_view request) {
  next_master_.reset();
  LeaveMaster();
  log_.notice("MASTER MODE enabled (" + std::string(request) + ")");
}

void ReplicationService::LeaveMaster() {
  if (!engine_.effects().passes_on()) {  // a master that has not joined another yet
    NameMaster("");
    return SetRole(false);
  }
  const bool has_history = follower_.has_history();
  follower_.Stop();
  NameMaster("");
  if (has_history) {
    engine_.replication().Branch();
  } else {
    engine_.replication().Restart();
  }
  SetRole(false);
  engine_.effects().set_passes_on(false);
  replicas_.EnsureBacklog();
  replicas_.DisconnectAll();
  persistence_.ResumeLog();
}

absl::Status ReplicationService::AbortFailover() {
  if (!failover_.IsOn()) return Refusal("ERR No failover in progress.");
  const bool was_replica = failover_.IsHandingOver();
  failover_.End();
  if (was_replica) Promote("the failover was aborted");
  log_.notice("Failover aborted.");
  return absl::OkStatus();
}

void ReplicationService::ResetStats() {
  replicas_.ResetStats();
  follower_.ResetStats();
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
