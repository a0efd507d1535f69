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

absl::StatusOr<uint64_t> SlotGrants::Open(const SlotSet& slots, int64_t millis) {
  Topology& topology = state_.topology;
  if (topology.grant) return Refusal("An earlier migration has not been completed yet");
  if (!state_.is_up) return Refusal("The cluster is down");
  const uint64_t old_epoch = topology.current_epoch;
  const uint64_t epoch = topology.GreatestConfigEpoch() + 1;
  ends_at_ = state_.Now() + millis;
  topology.current_epoch = epoch + 1;
  topology.grant = SlotGrant{.epoch = epoch, .millis = millis, .slots = slots};
  if (const absl::Status saved = state_.SaveNow(); !saved.ok()) {
    topology.current_epoch = old_epoch;  // no other node knows the new one
    topology.grant.reset();
    return Refusal("The grant of the slots cannot be saved: " + std::string(ErrorLine(saved)));
  }
  is_held_ = needs_majority_ = true;
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
    needs_majority_ = false;
  }
  Check();
  if (!state_.topology.grant) return;
  state_.Warning(
      "The target of a migration may have taken slots of this node. They are not served until "
      "this node has a greater configuration epoch");
}

void SlotGrants::TakeLate(const SlotSet& slots, const ClusterNode& source) {
  late_slots_ = slots;
  late_source_id_ = source.id;
  state_.has_changed = true;
  state_.Warning("The takeover of slots was announced too late. They are not served until node " +
                 NodeText(source) + " shows whether it has kept them");
}

void SlotGrants::TakeClaims(const ClusterNode& sender, const BusHeader& header) {
  if (late_slots_.empty() || sender.id != late_source_id_) return;
  const SlotSet given_up = late_slots_ - SlotSet(header.slots);
  if (given_up.empty()) return;
  late_slots_ = late_slots_ - given_up;
  state_.has_changed = true;
}

void SlotGrants::RequestMessage(ClusterNode& node) {
  if (&node != &state_.self() && node.ping_sent == 0) sender_.SendPing(node);
}

void SlotGrants::Tick() {
  ClusterNode* const late_source = state_.topology.Find(late_source_id_);
  if (!late_slots_.empty() && late_source != nullptr) RequestMessage(*late_source);
  if (!state_.topology.grant || !needs_majority_ || state_.Now() < ends_at_) return;
  if (asked_at_ == 0) {
    asked_at_ = state_.Now();
    sender_.BroadcastPong(BusSender::Audience::kAll);
  }
  for (const auto& [id, node] : state_.topology.nodes()) {
    if (state_.Votes(*node) && node->data_received < asked_at_) RequestMessage(*node);
  }
}

bool SlotGrants::HasMajorityResponded() const {
  if (asked_at_ == 0) return false;
  size_t responded = 0;
  for (const auto& [id, node] : state_.topology.nodes()) {
    const bool has_responded = node.get() == &state_.self() || node->data_received >= asked_at_;
    responded += has_responded && state_.Votes(*node);
  }
  return responded >= state_.Majority();
}

void SlotGrants::Check() {
  CheckLate();
  if (state_.topology.grant && needs_majority_ && HasMajorityResponded()) {
    needs_majority_ = false;
    outbids_at_ = state_.Now() + kForReplies;
  }
  if (!IsInDoubt()) return;
  bool owns_some = false;
  state_.topology.grant->slots.ForEach(
      [&](size_t slot) { owns_some |= state_.topology.OwnerOf(slot) == &state_.self(); });
  if (state_.self().is_replica || !owns_some) return Close();
  if (needs_majority_ || state_.Now() < outbids_at_ || !state_.is_up) return;
  Outbid();
}

void SlotGrants::CheckLate() {
  if (late_slots_.empty()) return;
  const ClusterNode* source = state_.topology.Find(late_source_id_);
  SlotSet ended;
  late_slots_.ForEach([&](size_t slot) {
    const bool is_own = state_.topology.OwnerOf(slot) == &state_.self();
    if (!is_own || source == nullptr || source->has_failed) ended.Insert(slot);
  });
  if (ended.empty()) return;
  late_slots_ = late_slots_ - ended;
  state_.has_changed = true;
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
  SlotSet slots = late_slots_;
  if (IsInDoubt()) state_.topology.grant->slots.ForEach([&](size_t slot) { slots.Insert(slot); });
  return slots;
}

bool SlotGrants::Withholds(size_t slot) const {
  const bool is_granted = IsInDoubt() && state_.topology.grant->slots.Contains(slot);
  return is_granted || late_slots_.Contains(slot);
}

}  // namespace zsetd
