#include "server/cluster/bus/cluster_state.h"

#include <algorithm>

namespace zsetd {
namespace {

constexpr int64_t kDelayAfterStart = 2000;
constexpr int64_t kLeastDelayAfterMinority = 500;
constexpr int64_t kMostDelayAfterMinority = 5000;

}  // namespace

void ClusterState::Check() {
  const int64_t now = state_.Now();
  if (!first_check_) first_check_ = now;
  state_.must_check_state = false;

  size_t masters = 0;
  size_t reachable = 0;
  size_t served_slots = 0;
  for (const auto& [id, node] : state_.topology.nodes()) {
    if (!state_.Votes(*node)) continue;
    ++masters;
    if (!node->has_failed) served_slots += node->slots.size();
    reachable += node->IsReachable();
  }
  state_.voting_masters = masters;
  const bool has_majority = reachable >= state_.Majority();
  if (!has_majority && masters > 0) last_minority_ = now;
  const bool may_be_up =
      has_majority && (!state_.settings.require_full_coverage || served_slots == kSlotCount);
  if (may_be_up == state_.is_up) return;

  const bool must_wait_for_others = state_.self().IsMaster() && state_.topology.nodes().size() > 1;
  if (may_be_up && must_wait_for_others) {
    const int64_t delay =
        std::clamp(state_.settings.node_timeout, kLeastDelayAfterMinority, kMostDelayAfterMinority);
    if (now - *first_check_ < kDelayAfterStart) return;
    if (last_minority_ != 0 && now - last_minority_ < delay) return;
  }
  state_.is_up = may_be_up;
  state_.has_changed = true;
  state_.Notice(may_be_up ? "The cluster is up" : "The cluster is down");
}

}  // namespace zsetd
