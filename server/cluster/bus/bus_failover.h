#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/cluster/bus/bus_roles.h"
#include "server/cluster/bus/bus_sender.h"
#include "server/cluster/bus/bus_state.h"
#include "server/cluster/bus/cluster_state.h"
#include "server/cluster/message/bus_message.h"
#include "server/engine/services/cluster_control.h"

namespace zsetd {

// Replaces the master of this replica: when it has failed, or when an administrator asks for it.
//
//   master fails ──> wait 0.5 to 1 s, and 1 s for each replica with more data ──> request votes
//                                                                                      │
//   manual: master pauses its clients ──> offsets are equal ──> request votes          │
//                                                                    │                 │
//                         new configuration epoch, all slots <── votes of the majority
//
// A promotion is saved and synced before it is announced. If it cannot be saved, this node stays a
// replica, so that another one can be elected. An election ends without effect after twice the node
// timeout (two seconds at least), and the next one starts after twice that time.
class BusFailover {
 public:
  BusFailover(BusState& state, BusRoles& roles, BusSender& sender, ClusterState& cluster)
      : state_(state), roles_(roles), sender_(sender), cluster_(cluster) {}

  // CLUSTER FAILOVER. A refusal has Redis's line. A takeover that cannot be saved is
  // refused.
  absl::Status Start(ClusterFailover kind);

  // A replica of this master requests a manual failover. Pauses the clients, unless a migration has
  // granted slots: the replica would claim them, too.
  void TakeStart(ClusterNode& replica);

  // A message of the master shows its offset, which does not change any more.
  void TakeMastersOffset(const ClusterNode& sender, const BusHeader& header);

  // A node votes for this replica.
  void TakeVote(const ClusterNode& voter, const BusHeader& header);

  // Takes the next step, if one is due. O(nodes) during an election, otherwise O(log nodes).
  void Step();

  // Starts a manual failover's election when this replica has all writes of the paused master.
  void CheckOffset();

  // Ends a manual failover that has taken too long.
  void CheckDeadline();

  // Forgets elections: the node is another one now.
  void Reset();

 private:
  struct Election {
    int64_t start = 0;  // when votes are requested
    uint64_t epoch = 0;
    bool has_requested = false;
    size_t rank = 0;
    std::set<std::string, std::less<>> voters;
  };

  bool IsPossible();
  bool DataIsTooOld() const;
  bool HasAllOfMaster(int64_t master_offset) const;
  void StartElection(int64_t now);
  void RequestVotes();
  void RaiseRank();
  size_t Rank() const;
  absl::Status TakeOver();
  absl::Status Promote(uint64_t epoch);
  void Explain(std::string_view reason);

  BusState& state_;
  BusRoles& roles_;
  BusSender& sender_;
  ClusterState& cluster_;
  Election election_;
  std::string explained_;  // the last logged reason for no failover
};

}  // namespace zsetd
