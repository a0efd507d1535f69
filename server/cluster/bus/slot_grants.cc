#include "server/cluster/bus/slot_grants.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr int64_t kBetweenTries = 1000;  // to save a greater epoch

// Another node's reply with a newer owner uses another connection than its pong.
constexpr int64_t kForReplies = 100;

}  // namespace

// A restart does not know how much of the time has passed.
SlotGrants::SlotGrants(BusState& state, BusRoles& roles, BusSender& sender)
    : state_(state), roles_(roles), sender_(sender) {
  if (state.topology.grant) ends_at_ = state.Now() + state.topology.grant->millis;
}

absl::StatusOr<uint64_t> SlotGrants::Open(const SlotSet& slots, const std::string& target_id,
                                          int64_t millis) {
  Topology& topology = state_.topology;
  if (topology.grant) return Refusal("An earlier migration has not been completed yet");
  if (!state_.is_up) return Refusal("The cluster is down");
  if (state_.manual_failover.deadline != 0) return Refusal("A manual failover is in progress");
  const uint64_t old_epoch = topology.current_epoch;
  const uint64_t epoch = topology.GreatestConfigEpoch() + 1;
  if (epoch > kMostStatedEpoch) return Refusal("The epoch of the cluster is too great");
  ends_at_ = state_.Now() + millis;
  topology.current_epoch = epoch + 1;
  topology.grant =
      SlotGrant{.epoch = epoch, .millis = millis, .target_id = target_id, .slots = slots};
  if (const absl::Status saved = state_.SaveNow(); !saved.ok()) {
    topology.current_epoch = old_epoch;  // no other node knows the new one
    topology.grant.reset();
    return Refusal("The grant of the slots cannot be saved: " + std::string(ErrorLine(saved)));
  }
  is_held_ = needs_responses_ = true;
  asked_at_ = 0;
  sender_.BroadcastPong(BusSender::Audience::kAll);
  return epoch;
}

void SlotGrants::Close() {
  if (!state_.topology.grant) return;
  state_.topology.grant.reset();
  is_held_ = false;
  state_.SaveSyncedLater();
}

void SlotGrants::GiveUp(bool is_refused) {
  if (!state_.topology.grant) return;
  is_held_ = false;
  state_.has_changed = true;
  if (is_refused) {
    outbids_at_ = state_.Now();
    needs_responses_ = false;
  }
  Check();
  if (!state_.topology.grant) return;
  state_.Warning(
      "The target of a migration may have taken slots of this node. They are not served until "
      "this node has a greater configuration epoch");
}

void SlotGrants::TakeLate(const SlotSet& slots, const ClusterNode& source) {
  SlotSet& late = late_slots_[source.id];
  late = late | slots;
  state_.has_changed = true;
  state_.Warning("The takeover of slots was announced too late. They are not served until node " +
                 NodeText(source) + " shows whether it has kept them");
}

// A replica has no slots: its header has those of its master.
void SlotGrants::TakeClaims(const ClusterNode& sender, const BusHeader& header) {
  const auto late = late_slots_.find(sender.id);
  if (late == late_slots_.end()) return;
  const SlotSet claimed = header.master_id.empty() ? SlotSet(header.slots) : SlotSet();
  EndLate(late->second, late->second - claimed);
}

void SlotGrants::EndLate(SlotSet& late, const SlotSet& ended) {
  if (ended.empty()) return;
  late = late - ended;
  state_.has_changed = true;
}

void SlotGrants::RequestMessage(ClusterNode& node) {
  if (&node != &state_.self() && node.ping_sent == 0) sender_.SendPing(node);
}

void SlotGrants::Tick() {
  for (const auto& [source_id, slots] : late_slots_) {
    if (ClusterNode* source = state_.topology.Find(source_id)) RequestMessage(*source);
  }
  if (!state_.topology.grant || !needs_responses_ || state_.Now() < ends_at_) return;
  if (asked_at_ == 0) {
    asked_at_ = state_.Now();
    sender_.BroadcastPong(BusSender::Audience::kAll);
  }
  for (const auto& [id, node] : state_.topology.nodes()) {
    const bool is_asked = state_.Votes(*node) || id == state_.topology.grant->target_id;
    if (is_asked && node->data_received < asked_at_) RequestMessage(*node);
  }
}

// A target that has taken the slots, and has no contact with this node or with a majority, is down
// after a node timeout.
bool SlotGrants::HasTargetResponded() const {
  const ClusterNode* target = state_.topology.Find(state_.topology.grant->target_id);
  if (target == nullptr || target->has_failed || target->data_received >= asked_at_) return true;
  return state_.Now() - asked_at_ > state_.settings.node_timeout;
}

bool SlotGrants::HasMajorityResponded() const {
  size_t responded = 0;
  for (const auto& [id, node] : state_.topology.nodes()) {
    const bool has_responded = node.get() == &state_.self() || node->data_received >= asked_at_;
    responded += has_responded && state_.Votes(*node);
  }
  return responded >= state_.Majority();
}

void SlotGrants::Check() {
  CheckLate();
  const bool is_asking = state_.topology.grant && needs_responses_ && asked_at_ != 0;
  if (is_asking && HasTargetResponded() && HasMajorityResponded()) {
    needs_responses_ = false;
    outbids_at_ = state_.Now() + kForReplies;
  }
  if (!IsInDoubt()) return;
  bool owns_some = false;
  state_.topology.grant->slots.ForEach(
      [&](size_t slot) { owns_some |= state_.topology.OwnerOf(slot) == &state_.self(); });
  if (state_.self().is_replica || !owns_some) return Close();
  if (needs_responses_ || state_.Now() < outbids_at_ || !state_.is_up) return;
  Outbid();
}

void SlotGrants::CheckLate() {
  for (auto& [source_id, slots] : late_slots_) {
    const ClusterNode* source = state_.topology.Find(source_id);
    const bool is_decided = source == nullptr || source->has_failed || source->is_replica;
    EndLate(slots, is_decided ? slots : slots - state_.self().slots);
  }
  std::erase_if(late_slots_, [](const auto& late) { return late.second.empty(); });
}

void SlotGrants::Outbid() {
  Topology& topology = state_.topology;
  const uint64_t old_config_epoch = state_.self().config_epoch;
  const uint64_t old_epoch = topology.current_epoch;
  const SlotGrant grant = *std::exchange(topology.grant, std::nullopt);
  roles_.ClaimEpoch(std::max(grant.epoch, topology.GreatestConfigEpoch()) + 1);
  if (!state_.SaveNow().ok()) {  // no other node knows the new epoch
    state_.self().config_epoch = old_config_epoch;
    topology.current_epoch = old_epoch;
    topology.grant = grant;
    outbids_at_ = state_.Now() + kBetweenTries;
    return;
  }
  sender_.BroadcastPong(BusSender::Audience::kAll);
}

SlotSet SlotGrants::WithheldSlots() const {
  SlotSet slots;
  if (IsInDoubt()) slots = state_.topology.grant->slots;
  for (const auto& [source_id, late] : late_slots_) slots = slots | late;
  return slots;
}

}  // namespace zsetd
