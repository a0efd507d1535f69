// Nodes that were forgotten, and peers that name many of them.
#include "server/cluster/topology/forgotten_nodes.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/server/cluster/bus_fixture.h"

namespace zsetd {
namespace forgotten_nodes_test {
namespace {

std::string NumberedId(size_t number) {
  const std::string digits = std::to_string(number);
  return std::string(kNodeIdLength - digits.size(), '0') + digits;
}

TEST(ForgottenNodes, EndAtTheirTimes) {
  ForgottenNodes nodes;
  nodes.Add(NumberedId(1), 100);
  nodes.Add(NumberedId(2), 200);
  nodes.Add(NumberedId(1), 300);
  EXPECT_EQ(nodes.by_end().size(), 2u);
  EXPECT_TRUE(nodes.Contains(NumberedId(1), 299));
  EXPECT_FALSE(nodes.Contains(NumberedId(2), 200));
  nodes.RemoveEnded(200);
  EXPECT_EQ(nodes.by_end().size(), 1u);
  EXPECT_TRUE(nodes.Contains(NumberedId(1), 200));
  nodes.Clear();
  EXPECT_FALSE(nodes.Contains(NumberedId(1), 200));
}

TEST(ForgottenNodes, TheFirstToEndMakesRoom) {
  ForgottenNodes nodes;
  nodes.Add(NumberedId(1), 20);
  for (size_t number = 2; number <= kMostForgottenNodes; ++number) {
    nodes.Add(NumberedId(number), 10);
  }
  nodes.Add(NumberedId(kMostForgottenNodes), 10);
  EXPECT_TRUE(nodes.Contains(NumberedId(2), 0)) << "a known node needs no room";
  nodes.Add(NumberedId(5000), 5);
  EXPECT_EQ(nodes.by_end().size(), kMostForgottenNodes);
  EXPECT_TRUE(nodes.Contains(NumberedId(1), 0));
  EXPECT_FALSE(nodes.Contains(NumberedId(2), 0));
  EXPECT_TRUE(nodes.Contains(NumberedId(5000), 0));
}

class NamedNodesTest : public BusFixture {
 protected:
  // Node b announces the numbered nodes, and forgets them if `forgets`.
  void Announce(size_t first, size_t count, bool forgets) {
    BusMessage ping = From('b', BusMessageType::kPing);
    ping.header.reads_extensions = true;
    ping.extensions.emplace();
    for (size_t number = first; number < first + count; ++number) {
      ping.gossip.push_back({.id = NumberedId(number), .ip = "10.0.0.9", .flags = kBusMaster});
      if (forgets) ping.extensions->forgotten_nodes.push_back({NumberedId(number), 86'400});
    }
    Deliver(ping);
  }
};

// Otherwise the messages would become invalid, and the cluster would fail.
TEST_F(NamedNodesTest, APeerThatForgetsManyDoesNotMakeMessagesLong) {
  constexpr size_t kMessages = 70;  // their nodes are more than an extension count can state
  Start(Nodes());
  Connect();
  for (size_t part = 0; part < kMessages; ++part) {
    host.now += 1000;
    Announce(1 + part * kMostForgottenNodes, kMostForgottenNodes, /*forgets=*/true);
  }
  EXPECT_EQ(bus->topology().nodes().size(), 5u);
  host.sent.clear();
  Deliver(From('b', BusMessageType::kPing));
  ASSERT_EQ(host.sent.size(), 1u);
  EXPECT_EQ(host.sent[0].second.extensions->forgotten_nodes.size(), kMostForgottenNodes);
  EXPECT_FALSE(bus->HasForgotten(NumberedId(1)));
  EXPECT_TRUE(bus->HasForgotten(NumberedId(kMessages * kMostForgottenNodes)));
}

TEST_F(NamedNodesTest, GossipOfManyMessagesAddsALimitedNumber) {
  constexpr size_t kPart = 5000;
  Start(Nodes());
  Connect();
  for (size_t part = 0; part < 5; ++part) Announce(1 + part * kPart, kPart, /*forgets=*/false);
  EXPECT_EQ(bus->topology().nodes().size(), kMostClusterNodes);
  EXPECT_TRUE(Knows('b'));
}

}  // namespace
}  // namespace forgotten_nodes_test
}  // namespace zsetd
