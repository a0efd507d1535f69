#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "core/util/rng.h"
#include "tests/server/cluster/simulated_cluster.h"

namespace zsetd {
namespace cluster_simulation_test {
namespace {

BusSettings Fast() {
  BusSettings settings;
  settings.node_timeout = 2000;
  return settings;
}

std::string Violations(const SimulatedCluster& cluster) {
  std::string text;
  for (const std::string& line : cluster.violations()) text += line + "\n";
  return text;
}

void ExpectConverges(SimulatedCluster& cluster, int64_t most_millis) {
  const bool has_converged = cluster.RunUntil([&] { return cluster.HasConverged(); }, most_millis);
  EXPECT_TRUE(has_converged) << cluster.Difference();
  EXPECT_EQ(Violations(cluster), "");
}

TEST(ClusterSimulation, NodesThatMeetOneNodeKnowAllNodes) {
  SimulatedCluster cluster(6, 1, Fast());
  cluster.Create(3);
  ExpectConverges(cluster, 20'000);
}

// The time before a node knows any slot does not count as a minority.
TEST(ClusterSimulation, ANewClusterServesAsSoonAsItsNodesKnowEachOther) {
  SimulatedCluster cluster(6, 1);
  cluster.RunFor(10'000);
  const int64_t start = cluster.now();
  cluster.Create(3);
  const auto is_up = [&] {
    return cluster.bus(0).IsUp() && cluster.bus(1).IsUp() && cluster.bus(2).IsUp();
  };
  EXPECT_TRUE(cluster.RunUntil(is_up, start + 4'000 - cluster.now()));
  ExpectConverges(cluster, 20'000);
}

TEST(ClusterSimulation, AReplicaReplacesAFailedMaster) {
  SimulatedCluster cluster(6, 2, Fast());
  cluster.Create(3);
  ExpectConverges(cluster, 20'000);
  cluster.Crash(1);
  EXPECT_TRUE(cluster.RunUntil([&] { return cluster.OwnerOf(8000) == 4u; }, 10'000));
  ExpectConverges(cluster, 10'000);
  cluster.Restart(1);
  EXPECT_TRUE(
      cluster.RunUntil([&] { return cluster.bus(1).topology().self().is_replica; }, 10'000));
  ExpectConverges(cluster, 20'000);
}

TEST(ClusterSimulation, AMasterInAMinorityStopsToServeAndIsReplaced) {
  SimulatedCluster cluster(6, 3, Fast());
  cluster.Create(3);
  ExpectConverges(cluster, 20'000);
  cluster.Partition({1, 0, 0, 0, 0, 0});
  EXPECT_TRUE(cluster.RunUntil([&] { return !cluster.bus(0).IsUp(); }, 4'000));
  EXPECT_TRUE(cluster.RunUntil([&] { return cluster.OwnerOf(0) == 3u; }, 10'000));
  EXPECT_TRUE(cluster.bus(1).IsUp());
  cluster.Heal();
  ExpectConverges(cluster, 20'000);
  EXPECT_TRUE(cluster.bus(0).topology().self().is_replica);
}

TEST(ClusterSimulation, WithoutAMajorityNoReplicaIsPromoted) {
  SimulatedCluster cluster(6, 4, Fast());
  cluster.Create(3);
  ExpectConverges(cluster, 20'000);
  cluster.Partition({0, 0, 1, 1, 1, 1});  // the other side has one master of three
  cluster.RunFor(15'000);
  EXPECT_EQ(cluster.OwnerOf(0), 0u);
  EXPECT_FALSE(cluster.bus(2).IsUp());
  EXPECT_EQ(cluster.votes(), 0u);
  cluster.Heal();
  ExpectConverges(cluster, 20'000);
  EXPECT_EQ(cluster.OwnerOf(0), 0u);
}

TEST(ClusterSimulation, AManualFailoverLosesNoWrite) {
  SimulatedCluster cluster(6, 5, Fast());
  cluster.Create(3);
  ExpectConverges(cluster, 20'000);
  EXPECT_TRUE(cluster.bus(3).Failover(ClusterFailover::kAgreed).ok());
  EXPECT_TRUE(cluster.RunUntil([&] { return cluster.OwnerOf(0) == 3u; }, 3'000));
  EXPECT_GE(cluster.OffsetOf(3), cluster.OffsetOf(0));
  ExpectConverges(cluster, 10'000);
  EXPECT_TRUE(cluster.bus(0).topology().self().is_replica);
  EXPECT_FALSE(cluster.WritesArePaused(0));
  EXPECT_EQ(cluster.bus(0).topology().ShardIdOf(cluster.bus(0).topology().self()),
            cluster.bus(3).topology().ShardIdOf(cluster.bus(3).topology().self()));
}

TEST(ClusterSimulation, TheReplicaWithTheMostDataIsPromoted) {
  SimulatedCluster cluster(9, 6, Fast());
  cluster.Create(3);
  ExpectConverges(cluster, 20'000);
  cluster.Partition({0, 0, 0, 1, 0, 0, 0, 0, 0});  // node 3 misses writes of node 0
  cluster.RunFor(1'000);
  cluster.Crash(0);
  cluster.Heal();
  EXPECT_LT(cluster.OffsetOf(3), cluster.OffsetOf(6));
  EXPECT_TRUE(cluster.RunUntil([&] { return cluster.OwnerOf(0) != std::nullopt; }, 15'000));
  EXPECT_EQ(cluster.OwnerOf(0), 6u);
}

TEST(ClusterSimulation, AReplicaOfAnotherMasterReplacesALostOne) {
  SimulatedCluster cluster(7, 7, Fast());
  cluster.Create(3);  // node 6 is the second replica of node 0
  ExpectConverges(cluster, 20'000);
  cluster.Crash(4);  // the only replica of node 1
  const auto has_new_replica = [&] {
    const std::string& id = cluster.bus(1).topology().self().id;
    return cluster.bus(3).topology().self().master_id == id ||
           cluster.bus(6).topology().self().master_id == id;
  };
  EXPECT_TRUE(cluster.RunUntil(has_new_replica, 15'000));
  ExpectConverges(cluster, 10'000);
}

TEST(ClusterSimulation, ANodeIsFoundAtItsNewAddress) {
  SimulatedCluster cluster(5, 8, Fast());
  cluster.Create(3);
  ExpectConverges(cluster, 20'000);
  cluster.Crash(4);
  cluster.Move(4, "10.0.9.9");
  cluster.Restart(4);
  ExpectConverges(cluster, 20'000);
  const std::string& id = cluster.bus(4).topology().self().id;
  EXPECT_EQ(cluster.bus(0).topology().Find(id)->ip, "10.0.9.9");
}

TEST(ClusterSimulation, AForgottenNodeStaysForgotten) {
  SimulatedCluster cluster(5, 9, Fast());
  cluster.Create(3);
  ExpectConverges(cluster, 20'000);
  const std::string id = cluster.bus(4).topology().self().id;
  cluster.Crash(4);
  for (size_t node = 0; node < 4; ++node) {
    cluster.bus(node).Forget(*cluster.bus(node).topology().Find(id));
  }
  cluster.RunFor(30'000);
  for (size_t node = 0; node < 4; ++node) {
    EXPECT_EQ(cluster.bus(node).topology().Find(id), nullptr);
  }
}

TEST(ClusterSimulation, AVoterThatCrashesDoesNotVoteAgain) {
  SimulatedCluster cluster(9, 10, Fast());
  cluster.Create(3);
  ExpectConverges(cluster, 20'000);
  cluster.CrashAfterVote(1);
  cluster.Crash(0);
  EXPECT_TRUE(cluster.RunUntil([&] { return !cluster.IsRunning(1); }, 10'000));
  cluster.Restart(1);
  EXPECT_TRUE(cluster.RunUntil(
      [&] { return cluster.OwnerOf(0).has_value() && cluster.OwnerOf(0) != 0u; }, 30'000));
  cluster.Restart(0);
  ExpectConverges(cluster, 30'000);
}

uint64_t StepsFromEnvironment(uint64_t otherwise) {
  const char* steps = std::getenv("STEPS");
  return steps == nullptr ? otherwise : std::strtoull(steps, nullptr, 10);
}

// Crashes, restarts and divides nodes at random.
void Disturb(SimulatedCluster& cluster) {
  Rng& rng = cluster.rng();
  const size_t node = rng.Below(cluster.size());
  switch (rng.Below(6)) {
    case 0:
      return cluster.Crash(node);
    case 1: {
      std::vector<size_t> groups(cluster.size());
      for (size_t& group : groups) group = rng.Below(4) == 0 ? 1 : 0;
      return cluster.Partition(groups);
    }
    case 2:
      return cluster.Heal();
    case 3:
      if (cluster.IsRunning(node)) cluster.CrashAfterVote(node);
      return;
    case 4:
      if (cluster.IsRunning(node)) (void)cluster.bus(node).Failover(ClusterFailover::kAgreed);
      return;
    default:
      if (!cluster.IsRunning(node)) cluster.Restart(node);
  }
}

// One cluster with a seed of its own. Returns the number of steps.
uint64_t RunChaos(uint64_t seed, size_t size, int disturbances) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ", nodes " + std::to_string(size));
  SimulatedCluster cluster(size, seed, Fast());
  cluster.Create(std::max<size_t>(3, size / 3));
  ExpectConverges(cluster, 60'000);
  cluster.troubles = {.lost = 20, .duplicated = 20, .late = 50, .unsaved = seed % 2 * 200};
  for (int done = 0; done < disturbances; ++done) {
    Disturb(cluster);
    cluster.RunFor(static_cast<int64_t>(cluster.rng().Below(4'000)));
  }
  cluster.troubles = {};
  cluster.Heal();
  for (size_t node = 0; node < size; ++node) {
    if (!cluster.IsRunning(node)) cluster.Restart(node);
  }
  ExpectConverges(cluster, 120'000);
  return cluster.steps();
}

// A million steps, with up to a hundred nodes: STEPS=1000000. SEED repeats the first cluster. With
// odd seeds saves fail, too.
TEST(ClusterSimulation, NoRuleIsBrokenInAChaoticNetwork) {
  const char* chosen = std::getenv("SEED");
  uint64_t seed = chosen == nullptr ? 20261127 : std::strtoull(chosen, nullptr, 10);
  const uint64_t most_steps = StepsFromEnvironment(1);
  const bool is_long = most_steps > 100'000;
  uint64_t steps = 0;
  while (steps < most_steps && !testing::Test::HasFailure()) {
    const size_t size = is_long ? 5 + Rng(seed).Below(96) : 7;
    steps += RunChaos(seed, size, is_long ? 20 : 8);
    ++seed;
  }
}

}  // namespace
}  // namespace cluster_simulation_test
}  // namespace zsetd
