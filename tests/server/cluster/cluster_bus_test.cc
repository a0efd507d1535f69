#include "server/cluster/bus/cluster_bus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/cluster/bus/bus_message.h"
#include "server/cluster/topology/nodes_text.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace cluster_bus_test {
namespace {

std::string IdOf(char digit) { return std::string(kNodeIdLength, digit); }

struct FakeHost : BusHost {
  int64_t Now() const override { return now; }
  int64_t ReplicationOffset() const override { return offset; }
  int64_t DataAge() const override { return data_age; }
  bool FollowsMaster() const override { return !followed_id.empty(); }
  bool HasKeysIn(size_t slot) const override { return slot == slot_with_keys; }
  void OpenLink(LinkId link, const std::string& ip, int64_t port) override {
    opened.emplace_back(link, ip + ":" + std::to_string(port));
  }
  void CloseLink(LinkId link) override { closed.push_back(link); }
  void Send(LinkId link, std::string_view bytes) override {
    const auto message = DecodeBusMessage(bytes);
    ASSERT_TRUE(message.has_value());
    sent.emplace_back(link, *message);
    events.push_back(std::string(BusMessageName(message->header.type)));
  }
  absl::Status Save(bool is_synced) override {
    if (!disk_works) return Refusal("the disk is full");
    disk = NodesFileText(bus->topology());
    events.push_back(is_synced ? "save, sync" : "save");
    return absl::OkStatus();
  }
  void TopologyChanged() override { ++changes; }
  void FollowMaster(const ClusterNode& master) override { followed_id = master.id; }
  void BecomeMaster() override { followed_id.clear(); }
  void DeleteAllKeys() override { events.push_back("delete all"); }
  void DeleteKeysIn(size_t slot) override {
    events.push_back("delete slot " + std::to_string(slot));
  }
  void PauseWrites(int64_t until) override { paused_until = until; }
  void ResumeWrites() override { paused_until = 0; }
  void PublishLocally(std::string_view channel, std::string_view payload, bool) override {
    events.push_back("publish " + std::string(channel) + " " + std::string(payload));
  }
  void Log(LogLevel, std::string_view line) override { lines.emplace_back(line); }

  ClusterBus* bus = nullptr;
  int64_t now = 1'700'000'000'000;
  int64_t offset = 100;
  int64_t data_age = 0;
  size_t slot_with_keys = kSlotCount;
  bool disk_works = true;
  std::string disk;
  std::string followed_id;
  int64_t paused_until = 0;
  int changes = 0;
  std::vector<std::pair<LinkId, std::string>> opened;
  std::vector<LinkId> closed;
  std::vector<std::pair<LinkId, BusMessage>> sent;
  std::vector<std::string> events;
  std::vector<std::string> lines;
};

// Node a is this one. Nodes b and c are masters too; d and e are replicas of b. Each master has a
// third of the slots and the epoch 1, 2 or 3.
std::string Nodes(std::string_view own = "a", std::string_view b_flags = "master") {
  const auto line = [&](char id, const std::string& rest) {
    const bool is_self = own[0] == id;
    return IdOf(id) + " 10.0.0." + std::to_string(id - 'a' + 1) + ":6379@16379 " +
           (is_self ? "myself," : "") + rest + "\n";
  };
  return line('a', "master - 0 0 1 connected 0-4999") +
         line('b', std::string(b_flags) + " - 0 0 2 connected 5000-9999") +
         line('c', "master - 0 0 3 connected 10000-16383") +
         line('d', "slave " + IdOf('b') + " 0 0 2 connected") +
         line('e', "slave " + IdOf('b') + " 0 0 2 connected") +
         "vars currentEpoch 3 lastVoteEpoch 0\n";
}

class ClusterBusTest : public testing::Test {
 protected:
  void Start(const std::string& nodes) {
    bus.reset();
    BusSettings settings;
    settings.node_timeout = 2000;
    settings.port = 6379;
    settings.bus_port = 16379;
    bus = std::make_unique<ClusterBus>(*ReadNodesText(nodes), host, rng, settings);
    host.bus = bus.get();
    host.opened.clear();
    links_.clear();
  }

  // Opens the links that the bus asks for.
  void Connect() {
    bus->Tick();
    for (const auto& [link, address] : std::exchange(host.opened, {})) {
      bus->OnOpened(link, address.substr(0, address.find(':')), "10.0.0.1");
    }
    (void)bus->Settle();
    host.events.clear();
    host.sent.clear();
  }

  // A message of a node, with what it states about itself by default.
  BusMessage From(char id, BusMessageType type) {
    BusMessage message;
    BusHeader& header = message.header;
    header.type = type;
    header.sender = IdOf(id);
    header.port = 6379;
    header.bus_port = 16379;
    header.is_up = true;
    header.current_epoch = 3;
    const ClusterNode* node = bus->topology().Find(IdOf(id));
    if (node == nullptr) {
      header.flags = kBusMaster;
      return message;
    }
    const ClusterNode& master = bus->topology().MasterOf(*node);
    header.flags = node->is_replica ? kBusReplica : kBusMaster;
    header.master_id = node->master_id;
    header.config_epoch = master.config_epoch;
    header.slots = master.slots.bytes();
    return message;
  }

  // The message arrives on a link that its sender has opened.
  void Deliver(const BusMessage& message) {
    const char id = message.header.sender[0];
    LinkId& link = links_[id];
    if (link == 0) link = bus->Accept("10.0.0." + std::to_string(id - 'a' + 1), "10.0.0.1");
    bus->OnMessage(link, EncodeBusMessage(message));
    EXPECT_TRUE(bus->Settle().ok() || !host.disk_works);
  }

  void Gossip(char from, char about, uint16_t flags) {
    BusMessage message = From(from, BusMessageType::kPing);
    message.gossip.push_back({.id = IdOf(about),
                              .ip = "10.0.0." + std::to_string(about - 'a' + 1),
                              .port = 6379,
                              .bus_port = 16379,
                              .flags = flags});
    Deliver(message);
  }

  const ClusterNode& Node(char id) { return *bus->topology().Find(IdOf(id)); }
  bool Knows(char id) { return bus->topology().Find(IdOf(id)) != nullptr; }

  bool WasSent(BusMessageType type) {
    return std::ranges::any_of(host.sent,
                               [&](const auto& sent) { return sent.second.header.type == type; });
  }

  // Time passes with ticks, and all nodes answer.
  void Pass(int64_t millis, std::string_view silent = "") {
    for (int64_t end = host.now + millis; host.now < end;) {
      host.now += 100;
      bus->Tick();
      for (const auto& [id, link] : LinkIds()) {
        if (silent.find(id[0]) == std::string::npos) {
          bus->OnMessage(link, EncodeBusMessage(From(id[0], BusMessageType::kPong)));
        }
      }
      (void)bus->Settle();
    }
  }

  std::map<std::string, LinkId> LinkIds() {
    std::map<std::string, LinkId> ids;
    for (const auto& [id, node] : bus->topology().nodes()) {
      if (node->link != 0 && !node->in_handshake) ids[id] = node->link;
    }
    return ids;
  }

  FakeHost host;
  Rng rng{1};
  std::unique_ptr<ClusterBus> bus;
  std::map<char, LinkId> links_;
};

using Events = std::vector<std::string>;

TEST_F(ClusterBusTest, AVoteIsSavedAndSyncedBeforeItIsSent) {
  Start(Nodes("a", "master,fail"));
  Connect();
  BusMessage request = From('d', BusMessageType::kAuthRequest);
  request.header.current_epoch = 4;
  Deliver(request);
  EXPECT_EQ(host.events, (Events{"save, sync", "auth-ack"}));
  EXPECT_EQ(bus->topology().last_vote_epoch, 4u);
}

TEST_F(ClusterBusTest, AVoteThatWasSavedIsNotGivenAgainAfterACrash) {
  Start(Nodes("a", "master,fail"));
  Connect();
  BusMessage request = From('d', BusMessageType::kAuthRequest);
  request.header.current_epoch = 4;
  Deliver(request);
  Start(host.disk);  // as if the process had ended between the save and the message
  Connect();
  request = From('e', BusMessageType::kAuthRequest);
  request.header.current_epoch = 4;
  Deliver(request);
  EXPECT_FALSE(WasSent(BusMessageType::kAuthAck));
  request.header.current_epoch = 5;
  Deliver(request);
  EXPECT_TRUE(WasSent(BusMessageType::kAuthAck));
}

TEST_F(ClusterBusTest, AVoteThatCannotBeSavedIsNotSent) {
  Start(Nodes("a", "master,fail"));
  Connect();
  host.disk_works = false;
  BusMessage request = From('d', BusMessageType::kAuthRequest);
  request.header.current_epoch = 4;
  Deliver(request);
  EXPECT_FALSE(WasSent(BusMessageType::kAuthAck));
  host.disk_works = true;
  request = From('e', BusMessageType::kAuthRequest);
  request.header.current_epoch = 4;
  Deliver(request);
  EXPECT_FALSE(WasSent(BusMessageType::kAuthAck)) << "the first request may have been saved";
}

TEST_F(ClusterBusTest, VotesFollowTheRules) {
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

TEST_F(ClusterBusTest, OneVoteForReplicasOfOneMasterInTwoNodeTimeouts) {
  Start(Nodes("a", "master,fail"));
  Connect();
  BusMessage request = From('d', BusMessageType::kAuthRequest);
  request.header.current_epoch = 4;
  Deliver(request);
  host.sent.clear();
  host.now += 3999;
  request = From('e', BusMessageType::kAuthRequest);
  request.header.current_epoch = 5;
  Deliver(request);
  EXPECT_FALSE(WasSent(BusMessageType::kAuthAck));
  host.now += 1;
  Deliver(request);
  EXPECT_TRUE(WasSent(BusMessageType::kAuthAck));
}

TEST_F(ClusterBusTest, AnUnknownNodeIsAnsweredAndTeachesNothing) {
  Start(Nodes());
  Connect();
  BusMessage ping = From('f', BusMessageType::kPing);
  ping.header.current_epoch = 99;
  ping.header.config_epoch = 99;
  ping.header.slots.fill(0xff);
  ping.gossip.push_back({.id = IdOf('9'), .ip = "10.0.0.9", .port = 1, .bus_port = 2, .flags = 1});
  Deliver(ping);
  EXPECT_TRUE(WasSent(BusMessageType::kPong));
  EXPECT_EQ(bus->topology().nodes().size(), 5u);
  EXPECT_EQ(bus->topology().current_epoch, 3u);
  EXPECT_EQ(bus->topology().OwnerOf(0), &bus->topology().self());
}

TEST_F(ClusterBusTest, MeetStartsOneHandshakeWithTheAddressOfTheLink) {
  Start(Nodes());
  Connect();
  Deliver(From('f', BusMessageType::kMeet));
  Deliver(From('f', BusMessageType::kMeet));
  EXPECT_EQ(bus->topology().nodes().size(), 6u);
  bus->Tick();
  ASSERT_EQ(host.opened.size(), 1u);
  EXPECT_EQ(host.opened[0].second, "10.0.0.6:16379");
  const LinkId link = host.opened[0].first;
  bus->OnOpened(link, "10.0.0.6", "10.0.0.1");
  EXPECT_FALSE(Knows('f'));
  bus->OnMessage(link, EncodeBusMessage(From('f', BusMessageType::kPong)));
  EXPECT_TRUE(Knows('f'));
  EXPECT_FALSE(Node('f').in_handshake);
  EXPECT_EQ(bus->topology().nodes().size(), 6u);
}

TEST_F(ClusterBusTest, AHandshakeWithoutAnAnswerEnds) {
  Start(Nodes());
  EXPECT_TRUE(bus->Meet("10.0.0.6", 6379, 16379).ok());
  EXPECT_TRUE(bus->Meet("10.0.0.6", 6379, 16379).ok());
  EXPECT_EQ(bus->topology().nodes().size(), 6u);
  Pass(2200);
  EXPECT_EQ(bus->topology().nodes().size(), 5u);
}

TEST_F(ClusterBusTest, MeetRefusesInvalidAddresses) {
  Start(Nodes());
  const auto refusal = [&](std::string_view ip, int64_t port, int64_t bus_port) {
    return std::string(ErrorLine(bus->Meet(ip, port, bus_port)));
  };
  EXPECT_EQ(refusal("host", 1, 2), "ERR Invalid node address specified: host:1");
  EXPECT_EQ(refusal("10.0.0.1", 0, 2), "ERR Invalid node address specified: 10.0.0.1:0");
  EXPECT_EQ(refusal("10.0.0.1", 1, 65536), "ERR Invalid node address specified: 10.0.0.1:1");
}

TEST_F(ClusterBusTest, ANodeThatAnswersForAnotherOneTakesItsAddressAway) {
  Start(Nodes());
  Connect();
  bus->OnMessage(Node('d').link, EncodeBusMessage(From('f', BusMessageType::kPong)));
  EXPECT_TRUE(Node('d').has_no_address);
  EXPECT_EQ(Node('d').link, 0u);
  Deliver(From('d', BusMessageType::kPing));
  EXPECT_FALSE(Node('d').has_no_address) << "a ping shows where it is";
  EXPECT_EQ(Node('d').ip, "10.0.0.4");
}

TEST_F(ClusterBusTest, APingFromAnotherAddressMovesTheNode) {
  Start(Nodes());
  Connect();
  const LinkId old = Node('c').link;
  links_['c'] = bus->Accept("10.0.0.33", "10.0.0.1");
  Deliver(From('c', BusMessageType::kPing));
  EXPECT_EQ(Node('c').ip, "10.0.0.33");
  EXPECT_TRUE(std::ranges::count(host.closed, old) == 1);
}

TEST_F(ClusterBusTest, GossipAddsNodesExceptForgottenOnes) {
  Start(Nodes());
  Connect();
  Gossip('b', 'f', kBusMaster);
  EXPECT_TRUE(Knows('f'));
  bus->Forget(Node('f'));
  Gossip('b', 'f', kBusMaster);
  EXPECT_FALSE(Knows('f'));
  host.now += 59'000;
  Gossip('b', 'f', kBusMaster);
  EXPECT_FALSE(Knows('f'));
  host.now += 1'001;
  Gossip('b', 'f', kBusMaster);
  EXPECT_TRUE(Knows('f'));
}

TEST_F(ClusterBusTest, AMajorityOfMastersDecidesAboutAFailure) {
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

TEST_F(ClusterBusTest, AFailedMasterStaysFailedUntilReplicasHadTime) {
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

TEST_F(ClusterBusTest, AGreaterEpochTakesSlots) {
  Start(Nodes());
  Connect();
  host.slot_with_keys = 4999;
  BusMessage claim = From('c', BusMessageType::kPing);
  SlotSet slots = Node('c').slots;
  slots.Insert(4999);
  claim.header.slots = slots.bytes();
  Deliver(claim);
  EXPECT_EQ(bus->topology().OwnerOf(4999), &Node('c'));
  EXPECT_EQ(std::ranges::count(host.events, "delete slot 4999"), 1);

  host.sent.clear();
  BusMessage old_claim = From('b', BusMessageType::kPing);
  slots = Node('b').slots;
  slots.Insert(10000);
  old_claim.header.slots = slots.bytes();
  Deliver(old_claim);
  EXPECT_EQ(bus->topology().OwnerOf(10000), &Node('c'));
  EXPECT_TRUE(WasSent(BusMessageType::kUpdate)) << "b is informed";
}

TEST_F(ClusterBusTest, AnImportedSlotDoesNotChangeByEpochs) {
  Start(Nodes());
  Connect();
  bus->StartImporting(5000, Node('b'));
  BusMessage claim = From('c', BusMessageType::kPing);
  SlotSet slots = Node('c').slots;
  slots.Insert(5000);
  claim.header.slots = slots.bytes();
  Deliver(claim);
  EXPECT_EQ(bus->topology().OwnerOf(5000), &Node('b'));
  host.events.clear();
  bus->AssignSlot(5000, bus->topology().self());
  EXPECT_EQ(bus->topology().OwnerOf(5000), &bus->topology().self());
  EXPECT_EQ(bus->topology().self().config_epoch, 4u) << "the greatest";
  ASSERT_GE(host.events.size(), 2u);
  EXPECT_EQ(host.events[0], "save, sync");
  EXPECT_EQ(host.events[1], "pong") << "the new owner announces it";
}

TEST_F(ClusterBusTest, AMasterWhoseLastSlotIsTakenFollowsTheNewOwner) {
  Start(Nodes());
  Connect();
  BusMessage claim = From('c', BusMessageType::kPing);
  claim.header.slots.fill(0xff);
  Deliver(claim);
  EXPECT_TRUE(bus->topology().self().is_replica);
  EXPECT_EQ(host.followed_id, IdOf('c'));
}

TEST_F(ClusterBusTest, TheSmallerNameResolvesACollisionOfEpochs) {
  Start(Nodes());
  Connect();
  BusMessage ping = From('b', BusMessageType::kPing);
  bus->SetOwner(1, nullptr);
  EXPECT_TRUE(bus->BumpEpoch());
  EXPECT_FALSE(bus->BumpEpoch());
  ping.header.config_epoch = bus->topology().self().config_epoch;
  ping.header.current_epoch = ping.header.config_epoch;
  Deliver(ping);
  EXPECT_EQ(bus->topology().self().config_epoch, 5u);
  EXPECT_EQ(bus->topology().current_epoch, 5u);
}

TEST_F(ClusterBusTest, AMasterServesTwoSecondsAfterItsStart) {
  Start(Nodes());
  Connect();
  EXPECT_FALSE(bus->IsUp());
  Pass(1900);
  EXPECT_FALSE(bus->IsUp());
  Pass(300);
  EXPECT_TRUE(bus->IsUp());
}

TEST_F(ClusterBusTest, ASingleNodeServesImmediately) {
  Start(IdOf('a') + " :6379@16379 myself,master - 0 0 0 connected\n");
  (void)bus->Settle();
  EXPECT_FALSE(bus->IsUp()) << "no slots";
  for (size_t slot = 0; slot < kSlotCount; ++slot) bus->SetOwner(slot, &bus->topology().self());
  (void)bus->Settle();
  EXPECT_TRUE(bus->IsUp());
  EXPECT_GT(host.changes, 0);
}

TEST_F(ClusterBusTest, PublicationsReachAllNodesAndShardPublicationsTheShard) {
  Start(Nodes("b"));
  Connect();
  bus->Publish("news", "x", false);
  EXPECT_EQ(host.sent.size(), 4u);
  host.sent.clear();
  bus->Publish("news", "x", true);
  EXPECT_EQ(host.sent.size(), 2u) << "to d and e";
  EXPECT_EQ(bus->sent_messages()[static_cast<size_t>(BusMessageType::kPublishShard)], 2u);
  host.events.clear();
  BusMessage published = From('c', BusMessageType::kPublish);
  published.channel = "news";
  published.payload = "y";
  Deliver(published);
  EXPECT_EQ(host.events, (Events{"publish news y"}));
}

TEST_F(ClusterBusTest, ManualFailoverPausesClientsUntilTheReplicaIsPromoted) {
  Start(Nodes("b"));
  Connect();
  Deliver(From('d', BusMessageType::kManualFailoverStart));
  EXPECT_EQ(host.paused_until, host.now + 10'000);
  ASSERT_TRUE(WasSent(BusMessageType::kPing));
  EXPECT_TRUE(host.sent[0].second.header.has_paused_clients);
  BusMessage claim = From('d', BusMessageType::kPong);
  claim.header.flags = kBusMaster;
  claim.header.master_id.clear();
  claim.header.config_epoch = claim.header.current_epoch = 4;
  Deliver(claim);
  EXPECT_TRUE(bus->topology().self().is_replica);
  EXPECT_EQ(host.followed_id, IdOf('d'));
  EXPECT_EQ(host.paused_until, 0);
}

TEST_F(ClusterBusTest, ManualFailoverThatTakesTooLongEnds) {
  Start(Nodes("b"));
  Connect();
  Deliver(From('a', BusMessageType::kManualFailoverStart));
  EXPECT_EQ(host.paused_until, 0) << "a is no replica of b";
  Deliver(From('d', BusMessageType::kManualFailoverStart));
  EXPECT_NE(host.paused_until, 0);
  Pass(5200);
  EXPECT_EQ(host.paused_until, 0);
}

TEST_F(ClusterBusTest, FailoverRefusesInTheWordsOfRedis) {
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

TEST_F(ClusterBusTest, ManualFailoverWaitsForTheOffsetOfThePausedMaster) {
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
  host.offset = 120;
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

TEST_F(ClusterBusTest, TakeoverNeedsNoVotes) {
  Start(Nodes("d", "master,fail"));
  Connect();
  EXPECT_TRUE(bus->Failover(ClusterFailover::kTakeover).ok());
  EXPECT_TRUE(bus->topology().self().IsMaster());
  EXPECT_EQ(bus->topology().self().config_epoch, 4u);
  EXPECT_EQ(bus->topology().self().slots.size(), 5000u);
  EXPECT_TRUE(WasSent(BusMessageType::kPong));
}

TEST_F(ClusterBusTest, AReplicaWithOldDataDoesNotReplaceItsMaster) {
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

TEST_F(ClusterBusTest, HardResetForgetsTheClusterAndTheName) {
  Start(Nodes("d"));
  Connect();
  bus->Reset(/*hard=*/true);
  EXPECT_TRUE(bus->Settle().ok());
  EXPECT_EQ(bus->topology().nodes().size(), 1u);
  EXPECT_NE(bus->topology().self().id, IdOf('d'));
  EXPECT_TRUE(bus->topology().self().IsMaster());
  EXPECT_EQ(bus->topology().current_epoch, 0u);
  EXPECT_EQ(bus->topology().OwnerOf(0), nullptr);
  EXPECT_EQ(std::ranges::count(host.events, "delete all"), 1);
  EXPECT_TRUE(bus->Links().empty());
}

TEST_F(ClusterBusTest, AFailedSaveIsReportedAndTriedAgain) {
  Start(Nodes());
  (void)bus->Settle();
  host.disk_works = false;
  bus->SetOwner(0, nullptr);
  EXPECT_EQ(ErrorLine(bus->Settle()), "the disk is full");
  host.disk_works = true;
  EXPECT_TRUE(bus->Settle().ok());
  EXPECT_NE(host.disk.find(" 1-4999"), std::string::npos);
}

TEST_F(ClusterBusTest, NamesTravelInExtensions) {
  Start(Nodes());
  Connect();
  BusSettings settings;
  settings.announced_hostname = "a.example";
  settings.human_name = "alpha";
  settings.port = 6379;
  settings.bus_port = 16379;
  bus->ApplySettings(settings);
  BusMessage ping = From('b', BusMessageType::kPing);
  ping.header.reads_extensions = true;
  ping.extensions = BusExtensions{.hostname = "b.example", .shard_id = IdOf('9')};
  Deliver(ping);
  EXPECT_EQ(Node('b').hostname, "b.example");
  EXPECT_EQ(bus->topology().ShardIdOf(Node('d')), IdOf('9'));
  ASSERT_EQ(host.sent.size(), 1u);
  const BusExtensions& own = *host.sent[0].second.extensions;
  EXPECT_EQ(own.hostname, "a.example");
  EXPECT_EQ(own.human_name, "alpha");
  EXPECT_EQ(own.shard_id, IdOf('a'));
  ping.extensions->forgotten_nodes = {{IdOf('d'), 60}, {IdOf('a'), 60}};
  Deliver(ping);
  EXPECT_FALSE(Knows('d'));
  EXPECT_TRUE(Knows('a')) << "a node does not forget itself";
}

TEST_F(ClusterBusTest, AReplicaMovesToAnOrphanedMaster) {
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
}  // namespace cluster_bus_test
}  // namespace zsetd
