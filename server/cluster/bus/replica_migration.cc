#include "server/cluster/bus/replica_migration.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace zsetd {
namespace {

// A failed replica may come back, and a new master's replicas may still be on their way.
constexpr int64_t kOrphanDelay = 5000;
constexpr size_t kLeastReplicas = 2;

}  // namespace

void ReplicaMigration::Check() {
  const ClusterNode& self = state_.self();
  if (!self.is_replica || !state_.settings.allow_replica_migration || !state_.is_up) return;
  std::map<std::string_view, size_t> working_replicas;  // by master
  for (const auto& [id, node] : state_.topology.nodes()) {
    if (!node->master_id.empty() && !node->has_failed) ++working_replicas[node->master_id];
  }
  size_t most = 0;
  for (const auto& [id, count] : working_replicas) most = std::max(most, count);
  const size_t own = self.master_id.empty() ? 0 : working_replicas[self.master_id];

  const int64_t now = state_.Now();
  ClusterNode* target = nullptr;
  std::string_view candidate = self.id;
  for (const auto& [id, node] : state_.topology.nodes()) {
    if (!node->master_id.empty() && !node->has_failed &&
        working_replicas[node->master_id] == most) {
      candidate = std::min(candidate, std::string_view(id));
    }
    const bool is_orphaned = node->IsMaster() && !node->has_failed && node->accepts_replicas &&
                             node->HasSlots() && !working_replicas.contains(id);
    if (!is_orphaned) {
      node->orphaned_time = 0;
      continue;
    }
    if (node->orphaned_time == 0) node->orphaned_time = now;
    if (target == nullptr) target = node.get();
  }
  const bool can_be_spared = most >= kLeastReplicas && own == most &&
                             own > static_cast<size_t>(state_.settings.migration_barrier);
  if (target == nullptr || !can_be_spared || candidate != self.id) return;
  if (now - target->orphaned_time <= kOrphanDelay) return;
  state_.Notice("Master " + NodeText(*target) + " has no working replica. Becoming its replica");
  roles_.FollowMaster(*target);
  state_.SaveSyncedLater();
}

}  // namespace zsetd
