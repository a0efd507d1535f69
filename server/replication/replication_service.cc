#include "server/replication/replication_service.h"

#include <utility>

#include "server/engine/services/services.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr std::string_view kRoleChanged =
    "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)";

}  // namespace

ReplicationService::ReplicationService(Engine& engine, PersistenceService& persistence,
                                       FileSystem& files, Connector& connector, const Log& log,
                                       Replicas::Post post)
    : engine_(engine),
      persistence_(persistence),
      log_(log),
      replicas_(engine, persistence, files, log_, std::move(post)),
      follower_(engine, persistence, connector, *this, log_),
      failover_(engine, replicas_, [this](const MasterAddress& target) { TransferRole(target); }),
      master_control_(engine.services().master.Install(*this)),
      replica_registry_(engine.services().replicas.Install(*this)),
      task_(engine.tasks().Add(*this)) {
  if (MasterIn(engine.settings())) BecomeReplica();
}

// Resumes the saved history: a master for replicas that were at its end, a replica to continue from
// its master.
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

// A replica does not expire keys and elements itself; the master removes them.
void ReplicationService::SetRole(bool is_replica) {
  engine_.replication().set_is_replica(is_replica);
  engine_.store().set_leaves_expiry_to_master(is_replica);
}

// From here on, the stream is the master's and is passed on.
void ReplicationService::BecomeReplica() {
  SetRole(true);
  engine_.effects().set_passes_on(true);
}

absl::Status ReplicationService::Follow(std::string host, int64_t port, std::string_view request) {
  const MasterAddress master = {std::move(host), port};
  Follow(master, /*takes_over=*/false);
  log_.Write(LogLevel::kNotice, "REPLICAOF " + master.host + ":" + std::to_string(port) +
                                    " enabled (" + std::string(request) + ")");
  return absl::OkStatus();
}

// The role and the setting change immediately, because later commands of a transaction (such as
// CONFIG REWRITE) may depend on them. The link starts after the unit, so the transaction's changes
// are still those of a master.
void ReplicationService::Follow(const MasterAddress& master, bool takes_over) {
  NameMaster(master.host + " " + std::to_string(master.port));
  if (!engine_.replication().is_replica()) {
    SetRole(true);
    UnblockClients();
  }
  next_master_ = {master, takes_over};
  engine_.units().AfterUnit([this] { JoinNextMaster(); });
}

// The data of a master is at a place in a history, too, so a promoted replica may continue from
// there. Without a stream, changes were not counted, and a new history starts.
void ReplicationService::JoinNextMaster() {
  if (!next_master_) return;  // a later REPLICAOF NO ONE in the transaction
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
  (void)engine_.Configure(settings);  // `replicaof` is not checked and cannot fail
}

void ReplicationService::UnblockClients() {
  for (const auto& [id, client] : engine_.clients().all()) {
    if (client->blocked) engine_.blocked_runner().UnblockWithError(*client, kRoleChanged);
  }
}

// Other replicas of the old master can continue with the history that this server has followed so
// far. In a transaction, the new history begins at the start of its unit, so they receive the whole
// unit.
void ReplicationService::Promote(std::string_view request) {
  next_master_.reset();
  LeaveMaster();
  log_.Write(LogLevel::kNotice, "MASTER MODE enabled (" + std::string(request) + ")");
}

void ReplicationService::LeaveMaster() {
  if (!engine_.effects().passes_on()) {  // has not joined the new master yet
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
  if (was_replica) Promote("failover aborted");
  log_.Write(LogLevel::kNotice, "Failover aborted.");
  return absl::OkStatus();
}

void ReplicationService::ResetStats() {
  replicas_.ResetStats();
  follower_.ResetStats();
}

// A WAIT that the last acknowledgement satisfies must not end with an error.
void ReplicationService::TransferRole(const MasterAddress& target) {
  engine_.blocked_runner().ServeAcknowledged();
  Follow(target, /*takes_over=*/true);
}

void ReplicationService::Tick(Micros) {
  AdvanceFailover();
  replicas_.Tick();
  follower_.Tick();
}

void ReplicationService::EndRound() {
  if (engine_.mode().IsBetweenUnits()) AdvanceFailover();
  replicas_.EndRound();
}

// Called after each acknowledgement, and before anything is appended to the stream that the target
// would have to acknowledge, too.
void ReplicationService::AdvanceFailover() {
  if (!failover_.IsOn()) return;
  const bool fails =
      failover_.HasTimedOut() || (failover_.IsHandingOver() && follower_.IsTakeoverRefused());
  if (fails) return (void)AbortFailover();
  failover_.Advance();
  if (failover_.IsHandingOver() && !follower_.IsTakingOver()) failover_.End();
}

void ReplicationService::OnNewHistory() { replicas_.ResetBacklog(); }

// The replicas use the old ID, so they must reconnect.
void ReplicationService::OnNewId() { replicas_.DisconnectAll(); }

}  // namespace zsetd
