#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/util/rng.h"
#include "server/cluster/bus/cluster_bus.h"

namespace zsetd {

// The troubles of a simulated network and of the disks, in thousandths.
struct Troubles {
  uint64_t lost = 0;        // messages that do not arrive
  uint64_t duplicated = 0;  // messages that arrive twice
  uint64_t late = 0;        // messages that later ones of the link overtake
  uint64_t unsaved = 0;     // saves of nodes.conf that fail
};

// Nodes of a cluster in one process, with a clock that only events move. Everything is determined
// by the seed. After each event the rules that must never be broken are checked:
// - no slot has two masters with the same configuration epoch, at any times;
// - no node votes for two candidates in one epoch, also after a restart.
//
// Each node is at 10.0.0.(index + 1) and has a disk, which keeps nodes.conf over a crash. Data is
// modelled as offsets: a master's offset grows, and a replica takes it over when it reaches the
// master.
class SimulatedCluster {
 public:
  SimulatedCluster(size_t nodes, uint64_t seed, const BusSettings& settings = {});
  ~SimulatedCluster();

  // Divides the slots between the first `masters` nodes, makes the other ones meet them, and makes
  // node masters + i a replica of node i % masters. Each master has an epoch of its own.
  void Create(size_t masters);

  size_t size() const { return nodes_.size(); }
  ClusterBus& bus(size_t node);
  int64_t now() const { return now_; }
  Rng& rng() { return rng_; }
  Troubles troubles;

  // Runs the events of a duration, or until a condition holds. Returns whether it holds in the end.
  void RunFor(int64_t millis);
  bool RunUntil(const std::function<bool()>& condition, int64_t most_millis);

  bool IsRunning(size_t node) const;
  void Crash(size_t node);  // loses unsaved changes, and in half of the cases unsynced ones
  void Restart(size_t node);

  // The node crashes when it has saved its next vote, before it sends it.
  void CrashAfterVote(size_t node);

  // Nodes of different groups do not reach each other. Open links stay open and lose messages.
  void Partition(const std::vector<size_t>& group_of_node);
  void Heal();

  // The node listens at another address from its next start on.
  void Move(size_t node, const std::string& ip);

  // All running nodes are up and agree about the owners of slots, the roles and failures.
  bool HasConverged() const;

  // Why it has not, for messages of tests; and what a node logged last.
  std::string Difference() const;
  std::string LogOf(size_t node) const;

  // The running node that believes to own the slot, with the greatest epoch; nullopt: none.
  std::optional<size_t> OwnerOf(size_t slot) const;

  size_t IndexOf(std::string_view id) const;
  bool WritesArePaused(size_t node) const;
  int64_t OffsetOf(size_t node) const;
  uint64_t votes() const { return votes_; }
  uint64_t steps() const { return steps_; }
  std::vector<std::string> PublicationsOf(size_t node) const;

  // The broken rules, in words.
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  class Node;
  struct Link;
  using Event = std::function<void()>;

  void Schedule(int64_t delay, Event event);
  void Step();
  bool Reaches(size_t from, size_t to) const;
  void Open(Node& from, LinkId id, const std::string& ip);
  void Close(Node& node, LinkId id);
  void Transmit(Node& from, LinkId id, std::string_view bytes);
  void Deliver(const std::shared_ptr<Link>& link, bool to_opener, const std::string& bytes);
  void CloseAllOf(Node& node);
  void CheckClaims(const Node& node);
  void CheckVote(const Node& voter, std::string_view bytes, const Link& link);
  void Tick(size_t node, uint64_t life);
  void Replicate(Node& node);

  Rng rng_;
  BusSettings settings_;
  int64_t now_ = 1'700'000'000'000;
  uint64_t sequence_ = 0;
  uint64_t steps_ = 0;
  uint64_t votes_ = 0;
  std::map<std::pair<int64_t, uint64_t>, Event> events_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<size_t> group_of_node_;
  std::map<std::pair<size_t, uint64_t>, std::string> owner_of_claim_;  // by slot and epoch
  std::map<std::pair<size_t, uint64_t>, std::string> candidate_of_vote_;
  std::vector<std::string> violations_;
};

}  // namespace zsetd
