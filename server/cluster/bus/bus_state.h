#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "core/util/rng.h"
#include "server/cluster/bus/bus_host.h"
#include "server/cluster/bus/bus_settings.h"
#include "server/cluster/topology/forgotten_nodes.h"
#include "server/cluster/topology/topology.h"

namespace zsetd {

// A failover that an administrator has requested (CLUSTER FAILOVER), on both of its sides.
struct ManualFailover {
  int64_t deadline = 0;    // 0: none is in progress
  std::string replica_id;  // on the master, whose clients are paused: the replica; otherwise empty
  int64_t master_offset = -1;  // on the replica: of the paused master; -1: not known yet
  bool can_start = false;      // on the replica: it has all writes of the master, or needs none
};

// The state that the parts of a ClusterBus share: nodes, surroundings, and the work of the next
// Settle().
struct BusState {
  BusState(Topology nodes, BusHost& surroundings, Rng& random, const BusSettings& values)
      : topology(std::move(nodes)), host(surroundings), rng(random), settings(values) {}

  int64_t Now() const { return host.Now(); }
  ClusterNode& self() { return topology.self(); }
  const ClusterNode& self() const { return topology.self(); }

  void SaveLater() { must_save = true; }
  void SaveSyncedLater() { must_save = must_sync = true; }

  // Saves and syncs before this returns, for changes that other nodes may rely on when they are
  // sent.
  absl::Status SaveNow() {
    must_sync = true;
    return SaveAsRequested();
  }

  // Saves before this returns, and syncs if SaveSyncedLater() was called.
  absl::Status SaveAsRequested() {
    absl::Status saved = host.Save(must_sync);
    must_save = !saved.ok();
    must_sync = must_sync && must_save;
    has_changed = true;
    return saved;
  }

  // The members of the majority that the rules ask for: masters with slots.
  bool Votes(const ClusterNode& node) const { return node.IsMaster() && node.HasSlots(); }
  size_t Majority() const { return voting_masters / 2 + 1; }

  void Log(LogLevel level, std::string_view line) { host.Log(level, line); }
  void Notice(std::string_view line) { host.Log(LogLevel::kNotice, line); }
  void Warning(std::string_view line) { host.Log(LogLevel::kWarning, line); }

  Topology topology;
  BusHost& host;
  Rng& rng;
  BusSettings settings;

  bool is_up = false;
  size_t voting_masters = 0;  // at the last check of `is_up`
  ManualFailover manual_failover;

  // Slots whose owners do not claim them any more. Each claim of another node is valid.
  std::bitset<kSlotCount> withdrawn_slots;

  ForgottenNodes forgotten_nodes;

  // The work of Settle().
  bool must_save = false;
  bool must_sync = false;
  bool must_check_state = true;
  bool must_try_failover = false;
  bool has_changed = false;  // to be reported to the host
};

// The node as log lines name it: its name, and the human-readable one.
inline std::string NodeText(const ClusterNode& node) {
  return node.human_name.empty() ? node.id : node.id + " (" + node.human_name + ")";
}

}  // namespace zsetd
