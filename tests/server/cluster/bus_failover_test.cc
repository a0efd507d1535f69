#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "server/engine/support/errors.h"
#include "tests/server/cluster/bus_fixture.h"

namespace zsetd {
namespace bus_failover_test {
namespace {

using Events = std::vector<std::string>;

class BusFailoverTest : public BusFixture {
 protected:
  void RequestVote(char candidate, uint64_t epoch) {
    BusMessage request = From(candidate, BusMessageType::kAuthRequest);
    request.header.current_epoch = epoch;
    Deliver(request);
  }
};

TEST_F(BusFailoverTest, AVoteIsSavedAndSyncedBeforeItIsSent) {
  Start(Nodes("a", "master,fail"));
  Connect();
  RequestVote('d', 4);
  EXPECT_EQ(host.events, (Events{"save, sync", "auth-ack"}));
  EXPECT_EQ(bus->topology().last_vote_epoch, 4u);
}

TEST_F(BusFailoverTest, AVoteThatWasSavedIsNotGivenAgainAfterACrash) {
  Start(Nodes("a", "master,fail"));
  Connect();
  RequestVote('d', 4);
  Start(host.disk);  // as if the process had ended between the save and the message
  Connect();
  RequestVote('e', 4);
  EXPECT_FALSE(WasSent(BusMessageType::kAuthAck));
  RequestVote('e', 5);
  EXPECT_TRUE(WasSent(BusMessageType::kAuthAck));
}

TEST_F(BusFailoverTest, AVoteThatCannotBeSavedIsNotSent) {
  Start(Nodes("a", "master,fail"));
  Connect();
  host.disk_works = false;
  RequestVote('d', 4);
  EXPECT_FALSE(WasSent(BusMessageType::kAuthAck));
  host.disk_works = true;
  RequestVote('e', 4);
  EXPECT_FALSE(WasSent(BusMessageType::kAuthAck)) << "the first request may have been saved";
}

TEST_F(BusFailoverTest, VotesFollowTheRules) {
  struct Case {
    const char* name;
    char candidate;
    uint64_t epoch;
    uint64_t config_epoch;
    bool is_forced;
    bool master_has_failed;
    bool is_granted;
  };
  const Case cases[] = {
      {"failed master", 'd', 4, 2, false, true, true},
      {"working master", 'd', 4, 2, false, false, false},
      {"agreed with the master", 'd', 4, 2, true, false, true},
      {"old epoch", 'd', 2, 2, false, true, false},
      {"slots with a newer owner", 'd', 4, 1, false, true, false},
      {"a master", 'c', 4, 3, true, true, false},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    host.sent.clear();
    Start(Nodes("a", test.master_has_failed ? "master,fail" : "master"));
    Connect();
    BusMessage request = From(test.candidate, BusMessageType::kAuthRequest);
    request.header.current_epoch = test.epoch;
    request.header.config_epoch = test.config_epoch;
    request.header.forces_vote = test.is_forced;
    Deliver(request);
    EXPECT_EQ(WasSent(BusMessageType::kAuthAck), test.is_granted);
  }
}

TEST_F(BusFailoverTest, OneVoteForReplicasOfOneMasterInTwoNodeTimeouts) {
  Start(Nodes("a", "master,fail"));
  Connect();
  RequestVote('d', 4);
  host.sent.clear();
  host.now += 3999;
  RequestVote('e', 5);
  EXPECT_FALSE(WasSent(BusMessageType::kAuthAck));
  host.now += 1;
  RequestVote('e', 5);
  EXPECT_TRUE(WasSent(BusMessageType::kAuthAck));
}

TEST_F(BusFailoverTest, ManualFailoverPausesClientsUntilTheReplicaIsPromoted) {
  Start(Nodes("b"));
  Connect();
  Deliver(From('d', BusMessageType::kManualFailoverStart));
  EXPECT_TRUE(host.is_paused);
  ASSERT_TRUE(WasSent(BusMessageType::kPing));
  EXPECT_TRUE(host.sent[0].second.header.has_paused_clients);
  BusMessage claim = From('d', BusMessageType::kPong);
  claim.header.flags = kBusMaster;
  claim.header.master_id.clear();
  claim.header.config_epoch = claim.header.current_epoch = 4;
  Deliver(claim);
  EXPECT_TRUE(bus->topology().self().is_replica);
  EXPECT_EQ(host.followed_id, IdOf('d'));
  EXPECT_FALSE(host.is_paused);
}

TEST_F(BusFailoverTest, ManualFailoverThatTakesTooLongEnds) {
  Start(Nodes("b"));
  Connect();
  Deliver(From('a', BusMessageType::kManualFailoverStart));
  EXPECT_FALSE(host.is_paused) << "a is no replica of b";
  Deliver(From('d', BusMessageType::kManualFailoverStart));
  EXPECT_TRUE(host.is_paused);
  Pass(5200);
  EXPECT_FALSE(host.is_paused);
}

TEST_F(BusFailoverTest, FailoverRefusesInTheWordsOfRedis) {
  const auto refusal = [&] {
    return std::string(ErrorLine(bus->Failover(ClusterFailover::kAgreed)));
  };
  Start(Nodes());
  EXPECT_EQ(refusal(), "ERR You should send CLUSTER FAILOVER to a replica");
  Start(Nodes("d"));
  EXPECT_EQ(refusal(), "ERR Master is down or failed, please use CLUSTER FAILOVER FORCE");
  Connect();
  EXPECT_EQ(refusal(), "");
  EXPECT_TRUE(WasSent(BusMessageType::kManualFailoverStart));
}

TEST_F(BusFailoverTest, VotesAfterTheDeadlineOfAManualFailoverDoNotCount) {
  Start(Nodes("d"));
  Connect();
  BusSettings settings;
  settings.node_timeout = 2000;  // an election takes longer than a manual failover
  settings.manual_failover_timeout = 1000;
  bus->ApplySettings(settings);
  host.followed_id = IdOf('b');
  EXPECT_TRUE(bus->Failover(ClusterFailover::kAgreed).ok());
  BusMessage ping = From('b', BusMessageType::kPing);
  ping.header.has_paused_clients = true;
  ping.header.replication_offset = 100;
  Deliver(ping);
  Pass(200);
  ASSERT_TRUE(WasSent(BusMessageType::kAuthRequest));
  host.now += settings.manual_failover_timeout;  // the process was stopped
  for (const char voter : {'a', 'c'}) {
    BusMessage vote = From(voter, BusMessageType::kAuthAck);
    vote.header.current_epoch = 4;
    Deliver(vote);
  }
  EXPECT_TRUE(bus->topology().self().is_replica);
}

TEST_F(BusFailoverTest, ManualFailoverWaitsForTheOffsetOfThePausedMaster) {
  Start(Nodes("d"));
  Connect();
  host.followed_id = IdOf('b');
  EXPECT_TRUE(bus->Failover(ClusterFailover::kAgreed).ok());
  BusMessage ping = From('b', BusMessageType::kPing);
  ping.header.has_paused_clients = true;
  ping.header.replication_offset = 120;
  Deliver(ping);
  Pass(300);
  EXPECT_FALSE(WasSent(BusMessageType::kAuthRequest));
  host.is_linked = false;
  host.offset = 130;
  Pass(300);
  EXPECT_FALSE(WasSent(BusMessageType::kAuthRequest)) << "the offset may be of another history";
  host.is_linked = true;
  host.offset = 5000;
  Pass(300);
  EXPECT_FALSE(WasSent(BusMessageType::kAuthRequest)) << "it is, as the master restarted";
  host.offset = 157;  // a master of Redis may have asked for acknowledgements in the meantime
  Pass(200);
  ASSERT_TRUE(WasSent(BusMessageType::kAuthRequest));
  for (const char voter : {'a', 'a', 'c'}) {
    EXPECT_TRUE(bus->topology().self().is_replica) << "needs two voters";
    BusMessage vote = From(voter, BusMessageType::kAuthAck);
    vote.header.current_epoch = 4;
    Deliver(vote);
  }
  EXPECT_TRUE(bus->topology().self().IsMaster());
  EXPECT_EQ(bus->topology().self().config_epoch, 4u);
  EXPECT_EQ(bus->topology().OwnerOf(5000), &bus->topology().self());
  EXPECT_EQ(host.followed_id, "");
}

TEST_F(BusFailoverTest, TakeoverNeedsNoVotes) {
  Start(Nodes("d", "master,fail"));
  Connect();
  EXPECT_TRUE(bus->Failover(ClusterFailover::kTakeover).ok());
  EXPECT_TRUE(bus->topology().self().IsMaster());
  EXPECT_EQ(bus->topology().self().config_epoch, 4u);
  EXPECT_EQ(bus->topology().self().slots.size(), 5000u);
  EXPECT_TRUE(WasSent(BusMessageType::kPong));
}

// Only the promotion is synced.
TEST_F(BusFailoverTest, ARequestForVotesDoesNotWaitForASync) {
  Start(Nodes("d", "master,fail"));
  Connect();
  host.followed_id = IdOf('b');
  (void)bus->Settle();
  host.events.clear();
  Pass(1100, "b");
  const auto request = std::ranges::find(host.events, "auth-req");
  ASSERT_NE(request, host.events.end());
  EXPECT_EQ(*std::prev(request), "save");
  host.events.clear();
  for (const char voter : {'a', 'c'}) {
    BusMessage vote = From(voter, BusMessageType::kAuthAck);
    vote.header.current_epoch = 4;
    Deliver(vote);
  }
  ASSERT_FALSE(host.events.empty());
  EXPECT_EQ(host.events.front(), "save, sync");
}

TEST_F(BusFailoverTest, ARequestThatCannotBeSavedIsNotSent) {
  Start(Nodes("d", "master,fail"));
  Connect();
  host.followed_id = IdOf('b');
  host.disk_works = false;
  Pass(1500, "b");
  EXPECT_FALSE(WasSent(BusMessageType::kAuthRequest));
  host.disk_works = true;
  Pass(200, "b");
  EXPECT_TRUE(WasSent(BusMessageType::kAuthRequest));
}

TEST_F(BusFailoverTest, APromotionThatCannotBeSavedIsNotAnnounced) {
  Start(Nodes("d", "master,fail"));
  Connect();
  host.followed_id = IdOf('b');
  Pass(1100, "b");
  ASSERT_TRUE(WasSent(BusMessageType::kAuthRequest));
  host.sent.clear();
  host.disk_works = false;
  for (const char voter : {'a', 'c'}) {
    BusMessage vote = From(voter, BusMessageType::kAuthAck);
    vote.header.current_epoch = 4;
    Deliver(vote);
  }
  EXPECT_TRUE(bus->topology().self().is_replica);
  EXPECT_EQ(bus->topology().self().master_id, IdOf('b'));
  EXPECT_EQ(bus->topology().self().config_epoch, 2u);
  EXPECT_EQ(bus->topology().OwnerOf(5000), &Node('b'));
  EXPECT_EQ(host.followed_id, IdOf('b'));
  EXPECT_FALSE(WasSent(BusMessageType::kPong));

  host.disk_works = true;
  host.sent.clear();
  Pass(200, "b");
  EXPECT_FALSE(WasSent(BusMessageType::kAuthRequest)) << "the votes of epoch 4 have been used";
  Pass(5000, "b");
  EXPECT_TRUE(WasSent(BusMessageType::kAuthRequest));
  for (const char voter : {'a', 'c'}) {
    BusMessage vote = From(voter, BusMessageType::kAuthAck);
    vote.header.current_epoch = 5;
    Deliver(vote);
  }
  EXPECT_TRUE(bus->topology().self().IsMaster());
  EXPECT_EQ(bus->topology().self().config_epoch, 5u);
}

TEST_F(BusFailoverTest, ATakeoverThatCannotBeSavedIsRefused) {
  Start(Nodes("d"));
  Connect();
  host.followed_id = IdOf('b');
  host.disk_works = false;
  EXPECT_EQ(ErrorLine(bus->Failover(ClusterFailover::kTakeover)),
            "ERR The takeover cannot be saved: the disk is full");
  EXPECT_TRUE(bus->topology().self().is_replica);
  EXPECT_EQ(bus->topology().OwnerOf(5000), &Node('b'));
  EXPECT_EQ(host.followed_id, IdOf('b'));
  host.disk_works = true;
  EXPECT_TRUE(bus->Failover(ClusterFailover::kTakeover).ok());
  EXPECT_TRUE(bus->topology().self().IsMaster());
  EXPECT_GT(bus->topology().self().config_epoch, 3u);
}

TEST_F(BusFailoverTest, AReplicaWithOldDataDoesNotReplaceItsMaster) {
  Start(Nodes("d", "master,fail"));
  Connect();
  host.followed_id = IdOf('b');
  host.data_age = 2000 + 10'000 + 2000 * 10 + 1;
  Pass(3000, "b");
  EXPECT_FALSE(WasSent(BusMessageType::kAuthRequest));
  host.data_age -= 1;
  Pass(3000, "b");
  EXPECT_TRUE(WasSent(BusMessageType::kAuthRequest));
}

TEST_F(BusFailoverTest, AReplicaMovesToAnOrphanedMaster) {
  Start(Nodes("d"));
  Connect();
  host.followed_id = IdOf('b');
  // Master a had a replica, which has failed.
  Gossip('b', 'f', kBusReplica);
  BusMessage ping = From('f', BusMessageType::kPing);
  ping.header.master_id = IdOf('a');
  Deliver(ping);
  EXPECT_EQ(Node('f').master_id, IdOf('a'));
  Connect();
  Pass(3000, "f");
  BusMessage failure = From('c', BusMessageType::kFail);
  failure.subject_id = IdOf('f');
  Deliver(failure);
  Pass(4900, "f");
  EXPECT_EQ(host.followed_id, IdOf('b'));
  Pass(400, "f");
  EXPECT_EQ(host.followed_id, IdOf('a'));
  EXPECT_EQ(bus->topology().self().master_id, IdOf('a'));
}

}  // namespace
}  // namespace bus_failover_test
}  // namespace zsetd
