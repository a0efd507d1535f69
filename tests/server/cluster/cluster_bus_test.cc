#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "server/engine/support/errors.h"
#include "tests/server/cluster/bus_fixture.h"

namespace zsetd {
namespace cluster_bus_test {
namespace {

using ClusterBusTest = BusFixture;
using Events = std::vector<std::string>;

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

TEST_F(ClusterBusTest, AnAnswerInTheNameOfAnotherHandshakeEndsItsOwn) {
  Start(Nodes());
  Connect();
  Deliver(From('f', BusMessageType::kMeet));
  EXPECT_TRUE(bus->Meet("10.0.0.7", 6379, 16379).ok());
  bus->Tick();
  ASSERT_EQ(host.opened.size(), 2u);
  const LinkId link = host.opened[0].first;
  bus->OnOpened(link, "10.0.0.6", "10.0.0.1");
  BusMessage answer = From('f', BusMessageType::kPong);
  for (const auto& [id, node] : bus->topology().nodes()) {
    if (node->in_handshake && node->link != link) answer.header.sender = id;
  }
  bus->OnMessage(link, EncodeBusMessage(answer));
  EXPECT_EQ(bus->topology().nodes().size(), 6u);
  EXPECT_FALSE(Knows('f'));
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

TEST_F(ClusterBusTest, NoConfigEpochIsAboveTheCurrentOne) {
  Start(Nodes());
  Connect();
  BusMessage ping = From('b', BusMessageType::kPing);
  ping.header.config_epoch = 1'000;
  Deliver(ping);
  EXPECT_EQ(Node('b').config_epoch, 1'000u);
  EXPECT_EQ(bus->topology().current_epoch, 1'000u);

  BusMessage update = From('b', BusMessageType::kUpdate);
  update.subject_id = Node('c').id;
  update.subject_epoch = 2'000;
  update.subject_slots = Node('c').slots.bytes();
  Deliver(update);
  EXPECT_EQ(Node('c').config_epoch, 2'000u);
  EXPECT_EQ(bus->topology().current_epoch, 2'000u);
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
  EXPECT_TRUE(bus->AssignSlot(5000, bus->topology().self()).ok());
  EXPECT_EQ(bus->topology().OwnerOf(5000), &bus->topology().self());
  EXPECT_EQ(bus->topology().self().config_epoch, 4u) << "the greatest";
  ASSERT_GE(host.events.size(), 2u);
  EXPECT_EQ(host.events[0], "save, sync");
  EXPECT_EQ(host.events[1], "pong") << "the new owner announces it";
}

// Otherwise this node would be down until an administrator ends the import.
TEST_F(ClusterBusTest, AnImportContinuesWithTheReplicaThatReplacesItsSource) {
  Start(Nodes());
  Connect();
  bus->StartImporting(5000, Node('b'));
  BusMessage claim = From('d', BusMessageType::kPing);
  claim.header.flags = kBusMaster;
  claim.header.master_id.clear();
  claim.header.config_epoch = claim.header.current_epoch = 4;
  claim.header.slots = Node('b').slots.bytes();
  Deliver(claim);
  EXPECT_EQ(bus->topology().OwnerOf(5000), &Node('d'));
  EXPECT_EQ(bus->topology().OwnerOf(5001), &Node('d'));
  EXPECT_EQ(bus->topology().importing().at(5000), &Node('d'));
}

// As in Redis, so that many slots move fast: a later save syncs.
TEST_F(ClusterBusTest, ANewOwnerThatHasTheGreatestEpochDoesNotSync) {
  Start(Nodes());
  Connect();
  for (const size_t slot : {5000, 5001}) bus->StartImporting(slot, Node('b'));
  EXPECT_TRUE(bus->AssignSlot(5000, bus->topology().self()).ok());
  EXPECT_TRUE(bus->Settle().ok());
  host.events.clear();
  EXPECT_TRUE(bus->AssignSlot(5001, bus->topology().self()).ok());
  EXPECT_TRUE(bus->Settle().ok());
  EXPECT_EQ(bus->topology().self().config_epoch, 4u);
  ASSERT_GE(host.events.size(), 2u);
  EXPECT_EQ(host.events[0], "save");
  EXPECT_EQ(host.events[1], "pong");
  EXPECT_EQ(std::ranges::count(host.events, "save, sync"), 0);
  EXPECT_EQ(std::ranges::count(host.events, "save"), 1);
}

TEST_F(ClusterBusTest, OnlyTheNewOwnerOfAMovedSlotSyncs) {
  Start(Nodes());
  Connect();
  host.events.clear();
  bus->StartMigrating(0, Node('b'));
  EXPECT_TRUE(bus->Settle().ok());
  EXPECT_TRUE(bus->AssignSlot(0, Node('b')).ok());
  EXPECT_TRUE(bus->Settle().ok());
  bus->StartImporting(5000, Node('b'));
  EXPECT_TRUE(bus->Settle().ok());
  EXPECT_EQ(host.events, (Events{"save", "save", "save"}));
}

// Slots that move one after the other belong to one epoch.
TEST_F(ClusterBusTest, AClaimSyncsOnlyWithANewEpochOrIfKeysAreDeleted) {
  Start(Nodes());
  Connect();
  BusMessage claim = From('c', BusMessageType::kPong);
  SlotSet slots = Node('c').slots;
  const auto events_of_claim = [&](size_t slot) {
    slots.Insert(slot);
    claim.header.slots = slots.bytes();
    host.events.clear();
    Deliver(claim);
    EXPECT_EQ(bus->topology().OwnerOf(slot), &Node('c'));
    return host.events;
  };
  claim.header.config_epoch = claim.header.current_epoch = 4;
  EXPECT_EQ(events_of_claim(9998), (Events{"save, sync"}));
  EXPECT_EQ(events_of_claim(9999), (Events{"save"}));
  EXPECT_EQ(events_of_claim(0), (Events{"save"}));
  host.slot_with_keys = 1;
  EXPECT_EQ(events_of_claim(1), (Events{"delete slot 1", "save, sync"}));
}

TEST_F(ClusterBusTest, ARepeatedClaimEndsAWithdrawal) {
  Start(Nodes());
  Connect();
  BusMessage claim = From('c', BusMessageType::kPong);
  SlotSet slots = Node('c').slots;
  slots.Erase(10000);
  claim.header.slots = slots.bytes();
  Deliver(claim);
  EXPECT_TRUE(bus->IsWithdrawn(10000));
  Deliver(From('c', BusMessageType::kPong));
  EXPECT_FALSE(bus->IsWithdrawn(10000));

  BusMessage old_claim = From('b', BusMessageType::kPong);
  slots = Node('b').slots;
  slots.Insert(10000);
  old_claim.header.slots = slots.bytes();
  Deliver(old_claim);
  EXPECT_EQ(bus->topology().OwnerOf(10000), &Node('c')) << "the epoch of b is smaller";
}

TEST_F(ClusterBusTest, SlotsMoveAsAWhole) {
  Start(Nodes());
  Connect();
  SlotSet slots;
  for (size_t slot = 5000; slot < 5010; ++slot) slots.Insert(slot);
  host.events.clear();
  SlotSet to_clear;
  bus->SetSlotsToClear(to_clear);
  EXPECT_TRUE(bus->TakeSlots(slots, {}).ok());
  ASSERT_GE(host.events.size(), 2u);
  EXPECT_EQ(host.events[0], "save, sync");
  EXPECT_EQ(host.events[1], "pong");
  EXPECT_EQ(bus->topology().self().config_epoch, 4u);
  bus->GiveSlots(slots, &Node('c'));
  EXPECT_EQ(bus->topology().OwnerOf(5009), &Node('c'));
  bus->GiveSlots(SlotSet(bus->topology().self().slots.bytes()), &Node('c'));
  EXPECT_EQ(host.followed_id, IdOf('c')) << "it has no slots any more";
}

// The target of a migration may fail over, or be forgotten, before its reply arrives.
TEST_F(ClusterBusTest, SlotsThatAFormerMasterHasTakenBelongToItsMaster) {
  Start(Nodes());
  Connect();
  SlotSet slots;
  slots.Insert(10);
  bus->GiveSlots(slots, &Node('d'));
  EXPECT_EQ(bus->topology().OwnerOf(10), &Node('b'));
  EXPECT_TRUE(Node('d').slots.empty());
  SlotSet others;
  others.Insert(11);
  bus->GiveSlots(others, nullptr);
  EXPECT_EQ(bus->topology().OwnerOf(11), nullptr);
}

// The source deletes its keys after the takeover is announced, and a restart must not undo it.
TEST_F(ClusterBusTest, ATakeoverOfSlotsThatCannotBeSavedIsUndone) {
  Start(Nodes());
  Connect();
  SlotSet slots;
  for (size_t slot = 5000; slot < 5010; ++slot) slots.Insert(slot);
  bus->SetSlotsToClear(slots);
  ASSERT_TRUE(bus->Settle().ok());
  const std::string before = host.disk;
  host.disk_works = false;
  EXPECT_EQ(ErrorLine(bus->TakeSlots(slots, {})),
            "ERR The takeover of the slots cannot be saved: the disk is full");
  EXPECT_FALSE(WasSent(BusMessageType::kPong));
  EXPECT_EQ(bus->topology().OwnerOf(5000), &Node('b'));
  EXPECT_EQ(bus->topology().self().config_epoch, 1u);
  EXPECT_EQ(bus->topology().current_epoch, 3u);
  EXPECT_EQ(bus->topology().slots_to_clear, slots);

  host.disk_works = true;
  EXPECT_TRUE(bus->Settle().ok());
  EXPECT_EQ(host.disk, before);
  EXPECT_TRUE(bus->TakeSlots(slots, {}).ok());
  EXPECT_TRUE(WasSent(BusMessageType::kPong));
  EXPECT_EQ(bus->topology().OwnerOf(5000), &bus->topology().self());
  EXPECT_EQ(bus->topology().self().config_epoch, 4u);
  EXPECT_TRUE(bus->topology().slots_to_clear.empty());
}

TEST_F(ClusterBusTest, AnImportWhoseEndCannotBeSavedContinues) {
  Start(Nodes());
  Connect();
  bus->StartImporting(5000, Node('b'));
  host.disk_works = false;
  EXPECT_FALSE(bus->AssignSlot(5000, bus->topology().self()).ok());
  EXPECT_FALSE(WasSent(BusMessageType::kPong));
  EXPECT_EQ(bus->topology().OwnerOf(5000), &Node('b'));
  EXPECT_EQ(bus->topology().importing().at(5000), &Node('b'));
  host.disk_works = true;
  EXPECT_TRUE(bus->AssignSlot(5000, bus->topology().self()).ok());
  EXPECT_EQ(bus->topology().OwnerOf(5000), &bus->topology().self());
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

TEST_F(ClusterBusTest, AnAddressThatIsNotAnnouncedAnyMoreIsFoundOut) {
  Start(Nodes());
  Connect();
  BusSettings settings;
  settings.port = 6379;
  settings.bus_port = 16379;
  settings.announced_ip = "10.9.9.9";
  bus->ApplySettings(settings);
  Deliver(From('b', BusMessageType::kPing));
  EXPECT_EQ(bus->topology().self().ip, "10.9.9.9");
  settings.announced_ip.clear();
  bus->ApplySettings(settings);
  Deliver(From('b', BusMessageType::kPing));
  EXPECT_EQ(bus->topology().self().ip, "10.0.0.1") << "the address that b has connected to";
}

TEST_F(ClusterBusTest, KnowsThePeersOfLinks) {
  Start(Nodes());
  Connect();
  EXPECT_TRUE(bus->IsOfKnownNode(Node('c').link));
  Deliver(From('f', BusMessageType::kMeet));
  EXPECT_FALSE(bus->IsOfKnownNode(links_['f']));
  bus->Tick();
  ASSERT_EQ(host.opened.size(), 1u);
  EXPECT_FALSE(bus->IsOfKnownNode(host.opened[0].first)) << "a handshake";
  links_['b'] = bus->Accept("10.0.0.2", "10.0.0.1");
  EXPECT_FALSE(bus->IsOfKnownNode(links_['b']));
  Deliver(From('b', BusMessageType::kPing));
  EXPECT_TRUE(bus->IsOfKnownNode(links_['b']));
  bus->OnClosed(links_['b']);
  EXPECT_FALSE(bus->IsOfKnownNode(links_['b']));
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

}  // namespace
}  // namespace cluster_bus_test
}  // namespace zsetd
