#include <gtest/gtest.h>

#include <string>

#include "tests/server/cluster/bus_fixture.h"

namespace zsetd {
namespace failure_detector_test {
namespace {

using FailureDetectorTest = BusFixture;

TEST_F(FailureDetectorTest, AMajorityOfMastersDecidesAboutAFailure) {
  Start(Nodes());
  Connect();
  Gossip('c', 'b', kBusMaster | kBusMayHaveFailed);
  EXPECT_EQ(bus->CountFailureReports(Node('b')), 1u);
  EXPECT_TRUE(Node('b').IsReachable()) << "this node reaches it";
  Gossip('d', 'b', kBusMaster | kBusMayHaveFailed);
  EXPECT_EQ(bus->CountFailureReports(Node('b')), 1u) << "a replica's report does not count";
  Gossip('c', 'b', kBusMaster);
  EXPECT_EQ(bus->CountFailureReports(Node('b')), 0u) << "withdrawn";
  host.sent.clear();
  Pass(4500, "b");
  EXPECT_TRUE(Node('b').may_have_failed);
  EXPECT_FALSE(WasSent(BusMessageType::kFail));
  Gossip('c', 'b', kBusMaster | kBusMayHaveFailed);
  EXPECT_TRUE(Node('b').has_failed);
  EXPECT_TRUE(WasSent(BusMessageType::kFail));
  host.now += 4001;
  EXPECT_EQ(bus->CountFailureReports(Node('b')), 0u) << "older than two node timeouts";
}

TEST_F(FailureDetectorTest, AFailedMasterStaysFailedUntilReplicasHadTime) {
  Start(Nodes());
  Connect();
  BusMessage failure = From('c', BusMessageType::kFail);
  failure.subject_id = IdOf('b');
  Deliver(failure);
  EXPECT_TRUE(Node('b').has_failed);
  Pass(3900);
  EXPECT_TRUE(Node('b').has_failed);
  Pass(300);
  EXPECT_FALSE(Node('b').has_failed);
  failure.subject_id = IdOf('d');
  Deliver(failure);
  EXPECT_TRUE(Node('d').has_failed);
  Pass(100);
  EXPECT_FALSE(Node('d').has_failed) << "a replica comes back immediately";
}

TEST_F(FailureDetectorTest, AMasterThatHadFailedBeforeTheStartStaysFailedUntilReplicasHadTime) {
  std::string nodes = Nodes("a");
  nodes.replace(nodes.find("master - 0 0 2"), 6, "master,fail");
  Start(nodes);
  Connect();
  Pass(3900);
  EXPECT_TRUE(Node('b').has_failed);
  Pass(300);
  EXPECT_FALSE(Node('b').has_failed);
}

TEST_F(FailureDetectorTest, TimesOfAnEarlierRunDoNotCount) {
  std::string nodes = Nodes("a");
  nodes.replace(nodes.find("0 0 2"), 5, "1 0 2");
  nodes.replace(nodes.find("0 0 3"), 5, "0 9223372036854775807 3");
  Start(nodes);
  bus->Tick();
  (void)bus->Settle();
  EXPECT_TRUE(Node('b').IsReachable()) << "the ping is of the earlier run";
  Pass(1900, "bc");
  EXPECT_TRUE(Node('b').IsReachable());
  Pass(300, "bc");
  EXPECT_FALSE(Node('b').IsReachable());
  Pass(1000, "bc");
  EXPECT_FALSE(Node('c').IsReachable()) << "it is pinged a second after the start";
}

TEST_F(FailureDetectorTest, ANodeDoesNotCountItselfAsFailed) {
  std::string nodes = Nodes("a");
  nodes.replace(nodes.find("myself,"), 7, "myself,fail,noaddr,handshake,");
  Start(nodes);
  Connect();
  Pass(2300);
  EXPECT_TRUE(bus->topology().self().IsReachable());
  EXPECT_TRUE(bus->IsUp());
}

TEST_F(FailureDetectorTest, AMasterServesTwoSecondsAfterItsStart) {
  Start(Nodes());
  Connect();
  EXPECT_FALSE(bus->IsUp());
  Pass(1900);
  EXPECT_FALSE(bus->IsUp());
  Pass(300);
  EXPECT_TRUE(bus->IsUp());
}

TEST_F(FailureDetectorTest, ASingleNodeServesImmediately) {
  Start(IdOf('a') + " :6379@16379 myself,master - 0 0 0 connected\n");
  (void)bus->Settle();
  EXPECT_FALSE(bus->IsUp()) << "no slots";
  for (size_t slot = 0; slot < kSlotCount; ++slot) bus->SetOwner(slot, &bus->topology().self());
  (void)bus->Settle();
  EXPECT_TRUE(bus->IsUp());
  EXPECT_GT(host.changes, 0);
}

}  // namespace
}  // namespace failure_detector_test
}  // namespace zsetd
