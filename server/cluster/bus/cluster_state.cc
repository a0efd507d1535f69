#include "server/cluster/bus/cluster_state.h"

#include <algorithm>

namespace zsetd {
namespace {

constexpr int64_t kDelayAfterStart = 2000;
constexpr int64_t kLeastDelayAfterMinority = 500;
constexpr int64_t kMostDelayAfterMinority = 5000;

}  // namespace

bool ClusterState::IsCovered() const {
  for (size_t slot = 0; slot < kSlotCount; ++slot) {
    const ClusterNode* owner = state_.topology.OwnerOf(slot);
    if (owner == nullptr || owner->has_failed) return false;
  }
  return true;
}

void ClusterState::Check() {
  const int64_t now = state_.Now();
  if (!first_check_) first_check_ = now;
  state_.must_check_state = false;
  state_.has_changed = true;

  size_t masters = 0;
  size_t reachable = 0;
  for (const auto& [id, node] : state_.topology.nodes()) {
    if (!state_.Votes(*node)) continue;
    ++masters;
    reachable += node->IsReachable();
  }
  state_.voting_masters = masters;
  const bool has_majority = reachable >= state_.Majority();
  if (!has_majority) last_minority_ = now;
  const bool may_be_up = has_majority && (!state_.settings.require_full_coverage || IsCovered());
  if (may_be_up == state_.is_up) return;

  const bool must_wait_for_others = state_.self().IsMaster() && state_.topology.nodes().size() > 1;
  if (may_be_up && must_wait_for_others) {
    const int64_t delay =
        std::clamp(state_.settings.node_timeout, kLeastDelayAfterMinority, kMostDelayAfterMinority);
    if (now - *first_check_ < kDelayAfterStart) return;
    if (last_minority_ != 0 && now - last_minority_ < delay) return;
  }
  state_.is_up = may_be_up;
  state_.Notice(may_be_up ? "The cluster is up" : "The cluster is down");
}

}  // namespace zsetd
