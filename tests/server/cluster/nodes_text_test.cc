#include "server/cluster/topology/nodes_text.h"

#include <gtest/gtest.h>

#include <string>

#include "core/util/rng.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace nodes_text_test {
namespace {

std::string IdOf(char digit) { return std::string(kNodeIdLength, digit); }

// As redis-server 7.0.15 writes it.
std::string OldFile() {
  return IdOf('a') + " 127.0.0.1:7001@17001 myself,master - 0 1700000000000 3 connected 0-99 200 " +
         "[7->-" + IdOf('b') + "] [300-<-" + IdOf('b') + "]\n" + IdOf('b') +
         " 127.0.0.1:7002@17002,host.example master - 0 1700000000000 2 connected 100-199\n" +
         IdOf('c') + " ::1:7003@17003 slave,fail " + IdOf('b') +
         " 1700000000000 1700000000001 2 disconnected\n" + "vars currentEpoch 9 lastVoteEpoch 4\n";
}

std::string Reason(const std::string& text) {
  const auto read = ReadNodesText(text);
  return read.ok() ? "accepted" : std::string(ErrorLine(read.status()));
}

TEST(NodesText, ReadsAFileOfRedis) {
  const auto read = ReadNodesText(OldFile());
  ASSERT_TRUE(read.ok()) << read.status();
  const Topology& topology = *read;
  EXPECT_EQ(topology.nodes().size(), 3u);
  EXPECT_EQ(topology.self().id, IdOf('a'));
  EXPECT_EQ(topology.self().config_epoch, 3u);
  EXPECT_EQ(topology.current_epoch, 9u);
  EXPECT_EQ(topology.last_vote_epoch, 4u);
  EXPECT_EQ(topology.OwnerOf(99), &topology.self());
  EXPECT_EQ(topology.OwnerOf(100), topology.Find(IdOf('b')));
  EXPECT_EQ(topology.OwnerOf(200), &topology.self());
  EXPECT_EQ(topology.OwnerOf(201), nullptr);
  EXPECT_EQ(topology.migrating().at(7), topology.Find(IdOf('b')));
  EXPECT_EQ(topology.importing().at(300), topology.Find(IdOf('b')));
  EXPECT_EQ(topology.Find(IdOf('b'))->hostname, "host.example");
  const ClusterNode& replica = *topology.Find(IdOf('c'));
  EXPECT_EQ(replica.ip, "::1");
  EXPECT_TRUE(replica.is_replica && replica.has_failed);
  EXPECT_EQ(&topology.MasterOf(replica), topology.Find(IdOf('b')));
  EXPECT_EQ(topology.ShardIdOf(replica), IdOf('b'));
}

TEST(NodesText, ReadsTheNamesAndValuesOfRedis72) {
  const std::string text =
      IdOf('a') + " 127.0.0.1:7001@17001,,tls-port=0,shard-id=" + IdOf('d') +
      " myself,master - 0 0 1 connected\n" + IdOf('b') +
      " 127.0.0.1:7443@17002,h,nodename=n,tcp-port=7002,tls-port=7443,shard-id=" + IdOf('e') +
      " master - 0 0 2 connected\n";
  const auto read = ReadNodesText(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->ShardIdOf(read->self()), IdOf('d'));
  EXPECT_EQ(read->Find(IdOf('b'))->port, 7002);
  EXPECT_EQ(read->Find(IdOf('b'))->tls_port, 7443);
  EXPECT_EQ(read->current_epoch, 2u) << "the greatest epoch of a node";
}

TEST(NodesText, WritesWhatItReads) {
  const std::string text = NodesFileText(*ReadNodesText(OldFile()));
  const auto again = ReadNodesText(text);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(NodesFileText(*again), text);
  EXPECT_NE(text.find(IdOf('a') +
                      " 127.0.0.1:7001@17001 myself,master - 0 1700000000000 3 "
                      "connected 0-99 200 [7->-" +
                      IdOf('b') + "] [300-<-" + IdOf('b') + "]\n"),
            std::string::npos)
      << text;
}

TEST(NodesText, KeepsAGrant) {
  const std::string line = IdOf('a') + " :1@2 myself,master - 0 0 1 connected 0-99\n";
  const std::string vars =
      "vars currentEpoch 8 lastVoteEpoch 0 grantedEpoch 7 grantedMillis 5000 grantedTo " +
      IdOf('b') + " grantedSlots 1-2,9-9\n";
  const auto read = ReadNodesText(line + vars);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_TRUE(read->grant.has_value());
  EXPECT_EQ(read->grant->epoch, 7u);
  EXPECT_EQ(read->grant->millis, 5000);
  EXPECT_EQ(read->grant->slots.size(), 3u);
  EXPECT_EQ(NodesFileText(*read), line + vars);
  EXPECT_EQ(Reason(line + "vars grantedEpoch 7 grantedSlots 3-4\n"),
            "grantedEpoch needs grantedTo");
  EXPECT_EQ(Reason(line + "vars grantedTo b\n"), "line 2: 'grantedTo' needs the name of a node");
  EXPECT_EQ(Reason(line + "vars grantedEpoch 281474976710657\n"),
            "line 2: 'grantedEpoch' needs a number");
  EXPECT_EQ(Reason(line + "vars grantedSlots 3-1\n"), "line 2: '3-1' is no range of slots");
  EXPECT_FALSE(ReadNodesText(line)->grant.has_value());
}

TEST(NodesText, KeepsTheSlotsToClear) {
  const std::string self = IdOf('a') + " :1@2 myself,master - 0 0 1 connected\n";
  const std::string text = self + "vars currentEpoch 1 lastVoteEpoch 0 slotsToClear 0-4,9-9\n";
  const auto read = ReadNodesText(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->slots_to_clear.size(), 6u);
  EXPECT_TRUE(read->slots_to_clear.Contains(9));
  EXPECT_NE(NodesFileText(*read).find(" slotsToClear 0-4,9-9\n"), std::string::npos);
  EXPECT_EQ(Reason(self + "vars slotsToClear 4-0\n"), "line 2: '4-0' is no range of slots");
}

TEST(NodesText, DropsMovesToItself) {
  const std::string self = IdOf('a') + " :1@2 myself,master - 0 0 1 connected 5";
  const auto read = ReadNodesText(self + " [5->-" + IdOf('a') + "] [6-<-" + IdOf('a') + "]\n");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(NodesFileText(*read).find('['), std::string::npos);
}

TEST(NodesText, RefusesInvalidFiles) {
  const std::string self = IdOf('a') + " :1@2 myself,master - 0 0 1 connected";
  EXPECT_EQ(Reason(self + "\n"), "accepted");
  EXPECT_EQ(Reason(""), "no node has the flag myself");
  EXPECT_EQ(Reason("x\n"), "line 1: a node's line needs 8 words at least");
  EXPECT_EQ(Reason("A :1@2 myself - 0 0 1 connected\n"),
            "line 1: a node's name needs 40 hexadecimal digits, not only zeros");
  EXPECT_EQ(Reason(self + " 5 5\n"), "line 1: slot 5 has two owners");
  EXPECT_EQ(Reason(self + " 16384\n"), "line 1: '16384' is no range of slots");
  EXPECT_EQ(Reason(self + " 9-5\n"), "line 1: '9-5' is no range of slots");
  EXPECT_EQ(Reason(self + " [5->-x]\n"), "line 1: '[5->-x]' is no move of a slot");
  EXPECT_EQ(Reason(self + " [5->-" + IdOf('b') + "]\n"), "slot 5 cannot move as stated");
  EXPECT_EQ(Reason(self + "\n" + IdOf('b') + " :1@2 myself - 0 0 1 connected\n"),
            "line 2: two nodes have the flag myself");
  EXPECT_EQ(Reason(IdOf('a') + " :1@2 myself,odd - 0 0 1 connected\n"),
            "line 1: unknown flag 'odd'");
  EXPECT_EQ(Reason(IdOf('a') + " :65536@2 myself - 0 0 1 connected\n"),
            "line 1: the port is invalid");
  EXPECT_EQ(Reason(IdOf('a') + " :1@x myself - 0 0 1 connected\n"),
            "line 1: the bus port is invalid");
  EXPECT_EQ(Reason(IdOf('a') + " 1 myself - 0 0 1 connected\n"), "line 1: the address is invalid");
  EXPECT_EQ(Reason(IdOf('a') + " :1@2 myself - 0 0 -1 connected\n"),
            "line 1: words 5 to 7 must be numbers");
  EXPECT_EQ(Reason(self + "\nvars currentEpoch x\n"), "line 2: 'currentEpoch' needs a number");
}

// Earlier versions saved such a file after a start with a wrong port. The next start replaces the
// ports of this node.
TEST(NodesText, AcceptsAnyBusPortOfThisNode) {
  const std::string self = IdOf('a') + " :60000@70000 myself,master - 0 0 1 connected\n";
  EXPECT_EQ(Reason(self), "accepted");
  EXPECT_EQ(Reason(IdOf('a') + " :60000 myself,master - 0 0 1 connected\n"), "accepted");
  for (const std::string ports : {":60000@70000", ":60000"}) {
    EXPECT_EQ(Reason(self + IdOf('b') + " " + ports + " master - 0 0 1 connected\n"),
              "line 2: the bus port is invalid");
  }
}

// Any bytes are accepted or refused; accepted files are written in a form that is read again.
TEST(NodesText, SurvivesChangedBytes) {
  const uint64_t seed = 20261126;
  SCOPED_TRACE(seed);
  Rng rng(seed);
  for (int round = 0; round < 2'000; ++round) {
    std::string text = OldFile();
    for (uint64_t changes = 1 + rng.Below(3); changes > 0; --changes) {
      constexpr std::string_view kBytes = "0159 -,:@[]<>\nabfmx";
      text[rng.Below(text.size())] = kBytes[rng.Below(kBytes.size())];
    }
    const auto read = ReadNodesText(text);
    if (!read.ok()) continue;
    const auto again = ReadNodesText(NodesFileText(*read));
    ASSERT_TRUE(again.ok()) << again.status() << "\n" << text;
  }
}

}  // namespace
}  // namespace nodes_text_test
}  // namespace zsetd
