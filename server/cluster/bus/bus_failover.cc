#include "server/cluster/bus/bus_failover.h"

#include <algorithm>
#include <utility>

#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr int64_t kElectionDelay = 500;
constexpr int64_t kElectionRandomDelay = 500;
constexpr int64_t kRankDelay = 1000;
constexpr int64_t kLeastElectionTime = 2000;
constexpr int64_t kElectionTime = 2;   // node timeouts
constexpr int64_t kElectionRetry = 2;  // election times

// A master of Redis may ask for acknowledgements behind the offset that it has announced.
constexpr int64_t kMostBehindPause = 1024;

}  // namespace

absl::Status BusFailover::Start(ClusterFailover kind) {
  const ClusterNode& self = state_.self();
  if (self.IsMaster()) return Refusal("ERR You should send CLUSTER FAILOVER to a replica");
  const ClusterNode* master = state_.topology.KnownMasterOf(self);
  if (master == nullptr) return Refusal("ERR I'm a replica but my master is unknown to me");
  const bool is_reachable = !master->has_failed && master->link != 0;
  if (kind == ClusterFailover::kAgreed && !is_reachable) {
    return Refusal("ERR Master is down or failed, please use CLUSTER FAILOVER FORCE");
  }
  roles_.EndManualFailover();
  Reset();
  ManualFailover& manual = state_.manual_failover;
  manual.deadline = state_.Now() + state_.settings.manual_failover_timeout;
  switch (kind) {
    case ClusterFailover::kTakeover:
      state_.Notice("An administrator requests a takeover of the master");
      return TakeOver();
    case ClusterFailover::kForced:
      state_.Notice("An administrator requests a failover without the master");
      manual.can_start = true;
      state_.must_try_failover = true;
      break;
    case ClusterFailover::kAgreed:
      state_.Notice("An administrator requests a failover");
      sender_.SendPlain(*master, BusMessageType::kManualFailoverStart);
      break;
  }
  return absl::OkStatus();
}

// The PING carries the offset and the flag that the clients are paused.
void BusFailover::TakeStart(ClusterNode& replica) {
  if (!replica.is_replica || replica.master_id != state_.self().id) return;
  if (state_.topology.grant) {
    state_.Notice("Refusing a manual failover to replica " + NodeText(replica) +
                  ": the target of a migration may be taking slots");
    return;
  }
  roles_.EndManualFailover();
  state_.manual_failover.deadline = state_.Now() + state_.settings.manual_failover_timeout;
  state_.manual_failover.replica_id = replica.id;
  state_.host.PauseWrites();
  state_.Notice("Replica " + NodeText(replica) +
                " requests a manual failover. Pausing the writes of clients");
  sender_.SendPing(replica);
}

void BusFailover::TakeMastersOffset(const ClusterNode& sender, const BusHeader& header) {
  ManualFailover& manual = state_.manual_failover;
  const ClusterNode& self = state_.self();
  if (manual.deadline == 0 || !self.is_replica || self.master_id != sender.id) return;
  if (!header.has_paused_clients || manual.master_offset != -1) return;
  manual.master_offset = static_cast<int64_t>(header.replication_offset);
  state_.Notice("The master has paused its clients at offset " +
                std::to_string(manual.master_offset));
}

// The offset of a replica without a link to its master may be that of another history: of another
// master, or of this one before a restart.
bool BusFailover::HasAllOfMaster(int64_t master_offset) const {
  const int64_t offset = state_.host.ReplicationOffset();
  return state_.host.IsLinkedToMaster() && offset >= master_offset &&
         offset <= master_offset + kMostBehindPause;
}

void BusFailover::CheckOffset() {
  ManualFailover& manual = state_.manual_failover;
  if (manual.deadline == 0 || manual.can_start || manual.master_offset == -1) return;
  if (!state_.self().is_replica || !HasAllOfMaster(manual.master_offset)) return;
  manual.can_start = true;
  state_.must_try_failover = true;
  state_.Notice("All writes of the paused master have arrived. Starting the manual failover");
}

void BusFailover::CheckDeadline() {
  const int64_t deadline = state_.manual_failover.deadline;
  if (deadline == 0 || state_.Now() <= deadline) return;
  state_.Warning("The manual failover has timed out");
  roles_.EndManualFailover();
}

void BusFailover::TakeVote(const ClusterNode& voter, const BusHeader& header) {
  if (!state_.Votes(voter) || header.current_epoch < election_.epoch) return;
  if (!election_.has_requested) return;
  election_.voters.insert(voter.id);
  state_.must_try_failover = true;
}

bool BusFailover::DataIsTooOld() const {
  const BusSettings& settings = state_.settings;
  if (settings.replica_validity_factor == 0) return false;
  int64_t age = state_.host.DataAge();
  if (age > settings.node_timeout) age -= settings.node_timeout;
  return age >
         settings.replica_ping_period + settings.node_timeout * settings.replica_validity_factor;
}

bool BusFailover::IsPossible() {
  const ManualFailover& manual = state_.manual_failover;
  const bool is_manual = manual.deadline != 0 && manual.can_start;
  const ClusterNode& self = state_.self();
  const ClusterNode* master = state_.topology.KnownMasterOf(self);
  const bool is_needed =
      master != nullptr && master->HasSlots() && (master->has_failed || is_manual);
  if (!is_needed || (state_.settings.never_fails_over && !is_manual)) {
    explained_.clear();
    return false;
  }
  if (DataIsTooOld() && !is_manual) {
    Explain("the data of this replica is too old");
    return false;
  }
  return true;
}

// Votes that arrive after the deadline do not count: the master accepts writes again.
void BusFailover::Step() {
  state_.must_try_failover = false;
  CheckDeadline();
  if (!IsPossible()) return;
  const int64_t now = state_.Now();
  const int64_t timeout =
      std::max(state_.settings.node_timeout * kElectionTime, kLeastElectionTime);
  const int64_t last_age = now - election_.start;
  const bool is_manual = state_.manual_failover.deadline != 0;
  if (election_.start == 0 || last_age > timeout * kElectionRetry) {
    StartElection(now);
    if (!is_manual) return;
  }
  if (!election_.has_requested && !is_manual) RaiseRank();
  if (now < election_.start) return Explain("waiting before the votes are requested");
  if (now - election_.start > timeout) return Explain("the election has expired");
  if (!election_.has_requested) return RequestVotes();
  if (election_.voters.size() < state_.Majority()) {
    return Explain("waiting for the votes of the majority");
  }
  state_.Notice("Elected in epoch " + std::to_string(election_.epoch) + ". Becoming the master");
  if (Promote(election_.epoch).ok()) return;
  Explain("the promotion cannot be saved");
  election_.start = now - timeout - 1;  // expired: the votes are not used later
  if (is_manual) roles_.EndManualFailover();
}

// Without a sync, which would delay the request while another replica may send one too: a replica
// has no vote, and a restart that forgets the epoch gets it from the voters. The save finds out
// whether a promotion can be saved.
void BusFailover::RequestVotes() {
  election_.epoch = ++state_.topology.current_epoch;
  if (!state_.SaveAsRequested().ok()) {
    --state_.topology.current_epoch;  // no other node knows it
    return Explain("the new epoch cannot be saved");
  }
  election_.has_requested = true;
  state_.must_check_state = true;
  state_.Notice("Requesting votes in epoch " + std::to_string(election_.epoch));
  sender_.RequestVotes();
}

// The master notices its failure by its silence; other replicas get this one's offset now, so that
// all can compute their ranks.
void BusFailover::StartElection(int64_t now) {
  const bool is_manual = state_.manual_failover.deadline != 0;
  election_ = Election();
  election_.start = now;
  if (!is_manual) {
    election_.rank = Rank();
    election_.start += kElectionDelay +
                       static_cast<int64_t>(state_.rng.Below(kElectionRandomDelay)) +
                       static_cast<int64_t>(election_.rank) * kRankDelay;
  }
  state_.Notice("The votes are requested in " + std::to_string(election_.start - now) +
                " ms: rank " + std::to_string(election_.rank) + ", offset " +
                std::to_string(state_.host.ReplicationOffset()));
  sender_.BroadcastPong(BusSender::Audience::kReplicasOfOwnShard);
  state_.must_try_failover = true;
}

void BusFailover::RaiseRank() {
  const size_t rank = Rank();
  if (rank <= election_.rank) return;
  election_.start += static_cast<int64_t>(rank - election_.rank) * kRankDelay;
  election_.rank = rank;
  state_.Notice("Another replica has more data. The rank of this one is " + std::to_string(rank));
}

// The number of replicas of the same master that have more data and may replace it.
size_t BusFailover::Rank() const {
  const ClusterNode& self = state_.self();
  const int64_t offset = state_.host.ReplicationOffset();
  return static_cast<size_t>(std::ranges::count_if(state_.topology.nodes(), [&](const auto& entry) {
    const ClusterNode& node = *entry.second;
    return &node != &self && node.is_replica && node.master_id == self.master_id &&
           !node.never_fails_over && node.replication_offset > offset;
  }));
}

absl::Status BusFailover::TakeOver() {
  roles_.EndManualFailover();
  const uint64_t epoch = state_.topology.GreatestConfigEpoch() + 1;
  state_.topology.current_epoch = std::max(state_.topology.current_epoch, epoch);
  const absl::Status promoted = Promote(epoch);
  if (promoted.ok()) return promoted;
  return Refusal("ERR The takeover cannot be saved: " + std::string(ErrorLine(promoted)));
}

// Other nodes rely on the promotion from the first message on. If a restart could undo it, the
// slots would have no owner, so it is saved first.
absl::Status BusFailover::Promote(uint64_t epoch) {
  ClusterNode& self = state_.self();
  ClusterNode* old_master = state_.topology.KnownMasterOf(self);
  if (old_master == nullptr) return absl::OkStatus();
  const uint64_t old_epoch = std::exchange(self.config_epoch, std::max(self.config_epoch, epoch));
  const SlotSet slots = old_master->slots;
  const bool accepted_replicas = self.accepts_replicas;
  roles_.MakeMaster(self);
  slots.ForEach([&](size_t slot) { roles_.SetOwner(slot, &self); });
  if (absl::Status saved = state_.SaveNow(); !saved.ok()) {
    state_.Warning("The promotion cannot be saved. This node stays a replica");
    slots.ForEach([&](size_t slot) { roles_.SetOwner(slot, old_master); });
    roles_.MakeReplica(self, *old_master);
    self.accepts_replicas = accepted_replicas;
    self.config_epoch = old_epoch;
    return saved;
  }
  state_.host.BecomeMaster();
  cluster_.Check();
  sender_.BroadcastPong(BusSender::Audience::kAll);
  roles_.EndManualFailover();
  Reset();
  return absl::OkStatus();
}

void BusFailover::Reset() {
  election_ = Election();
  explained_.clear();
}

void BusFailover::Explain(std::string_view reason) {
  if (explained_ == reason) return;
  explained_ = reason;
  state_.Notice("No failover yet: " + explained_);
}

}  // namespace zsetd
