#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "server/engine/support/errors.h"
#include "tests/server/cluster/bus_fixture.h"

namespace zsetd {
namespace slot_grants_test {
namespace {

using Events = std::vector<std::string>;

constexpr int64_t kTime = 1000;  // of a grant

// This node is a: the source.
class SlotGrantsTest : public BusFixture {
 protected:
  SlotGrantsTest() {
    for (size_t slot = 10; slot < 20; ++slot) slots_.Insert(slot);
  }

  void StartUp() {
    Start(Nodes());
    Connect();
    Pass(3000);
    ASSERT_TRUE(bus->IsUp());
    host.events.clear();
    host.sent.clear();
  }

  void Open() {
    const auto epoch = bus->OpenGrant(slots_, IdOf('c'), kTime);
    ASSERT_TRUE(epoch.ok()) << epoch.status();
    EXPECT_EQ(*epoch, kEpoch);
  }

  // The process ends, and starts again.
  void Restart() {
    Start(host.disk);
    Connect();
  }

  // The target, node c, claims the slots with the granted epoch.
  void ClaimByTarget() {
    BusMessage claim = From('c', BusMessageType::kPong);
    SlotSet slots = Node('c').slots;
    slots_.ForEach([&](size_t slot) { slots.Insert(slot); });
    claim.header.slots = slots.bytes();
    claim.header.config_epoch = kEpoch;
    claim.header.current_epoch = kEpoch + 1;
    Deliver(claim);
  }

  bool IsServed() { return !bus->IsWithheld(10) && bus->WithheldSlots().empty(); }
  uint64_t OwnEpoch() { return bus->topology().self().config_epoch; }

  static constexpr uint64_t kEpoch = 4;
  SlotSet slots_;
};

TEST_F(SlotGrantsTest, AGrantIsSavedAndSyncedBeforeItIsKnown) {
  StartUp();
  Open();
  ASSERT_GE(host.events.size(), 2u);
  EXPECT_EQ(host.events[0], "save, sync");
  EXPECT_EQ(host.events[1], "pong");
  EXPECT_NE(host.disk.find("grantedEpoch 4 grantedMillis 1000 grantedTo " + IdOf('c') +
                           " grantedSlots 10-19"),
            std::string::npos)
      << host.disk;
  EXPECT_TRUE(IsServed()) << "the migration pauses writes";
  EXPECT_FALSE(bus->OpenGrant(slots_, IdOf('c'), kTime).ok());
  bus->CloseGrant();
  EXPECT_TRUE(bus->Settle().ok());
  EXPECT_EQ(host.disk.find("granted"), std::string::npos);
}

// A voter refuses a request with an epoch below its current one.
TEST_F(SlotGrantsTest, NoElectionUsesTheGrantedEpoch) {
  StartUp();
  Open();
  EXPECT_EQ(bus->topology().current_epoch, kEpoch + 1);
  EXPECT_EQ(host.sent.back().second.header.current_epoch, kEpoch + 1);
}

TEST_F(SlotGrantsTest, AGrantThatCannotBeSavedIsNone) {
  StartUp();
  host.disk_works = false;
  EXPECT_FALSE(bus->OpenGrant(slots_, IdOf('c'), kTime).ok());
  EXPECT_FALSE(WasSent(BusMessageType::kPong));
  EXPECT_EQ(bus->topology().current_epoch, 3u);
  EXPECT_FALSE(bus->topology().grant.has_value());
}

TEST_F(SlotGrantsTest, ADoubtfulGrantIsOutbidAfterItsTimeAndAMessageOfTheMajority) {
  StartUp();
  Open();
  bus->GiveUpGrant(/*is_refused=*/false);
  EXPECT_TRUE(bus->Settle().ok());
  EXPECT_FALSE(IsServed());
  Pass(kTime - 200);
  EXPECT_FALSE(IsServed()) << "the target may still take the slots";
  host.sent.clear();
  Pass(200, "bc");
  EXPECT_FALSE(IsServed()) << "others may know the target as the owner";
  EXPECT_TRUE(WasSent(BusMessageType::kPong)) << "a node that does replies";
  host.events.clear();
  Pass(100);
  EXPECT_FALSE(IsServed()) << "its reply may be on its way";
  host.sent.clear();
  Pass(100);
  EXPECT_TRUE(IsServed());
  EXPECT_EQ(OwnEpoch(), kEpoch + 2);
  EXPECT_EQ(std::ranges::count(host.events, "save, sync"), 1);
  EXPECT_TRUE(WasSent(BusMessageType::kPong));
  EXPECT_EQ(host.disk.find("granted"), std::string::npos);
  ClaimByTarget();
  EXPECT_EQ(bus->topology().OwnerOf(10), &bus->topology().self());
}

TEST_F(SlotGrantsTest, ARefusedGrantIsOutbidImmediately) {
  StartUp();
  Open();
  bus->GiveUpGrant(/*is_refused=*/true);
  EXPECT_TRUE(IsServed());
  EXPECT_EQ(OwnEpoch(), kEpoch + 2) << "its save may have succeeded";
}

TEST_F(SlotGrantsTest, AClusterThatIsDownDefersTheOutbid) {
  StartUp();
  Open();
  Pass(5000, "bc");
  ASSERT_FALSE(bus->IsUp());
  bus->GiveUpGrant(/*is_refused=*/false);
  Pass(5000, "bc");
  EXPECT_FALSE(IsServed());
  Pass(200);
  EXPECT_EQ(OwnEpoch(), 1u);
  Pass(5000);
  EXPECT_TRUE(bus->IsUp() && IsServed());
  EXPECT_EQ(OwnEpoch(), kEpoch + 2);
}

TEST_F(SlotGrantsTest, AnOutbidThatCannotBeSavedIsTriedAgain) {
  StartUp();
  Open();
  host.sent.clear();
  host.disk_works = false;
  bus->GiveUpGrant(/*is_refused=*/true);
  EXPECT_FALSE(IsServed());
  EXPECT_FALSE(WasSent(BusMessageType::kPong));
  EXPECT_EQ(OwnEpoch(), 1u);
  host.disk_works = true;
  Pass(1200);
  EXPECT_TRUE(IsServed());
  EXPECT_EQ(OwnEpoch(), kEpoch + 2);
}

// Then it has had no contact for a node timeout, and is down if it is alone.
TEST_F(SlotGrantsTest, ATargetWithoutContactIsAwaitedForANodeTimeout) {
  StartUp();
  Open();
  bus->GiveUpGrant(/*is_refused=*/false);
  Pass(kTime + 1900, "c");
  EXPECT_FALSE(IsServed());
  EXPECT_TRUE(bus->IsUp());
  Pass(400, "c");
  EXPECT_TRUE(IsServed());
  EXPECT_EQ(OwnEpoch(), kEpoch + 2);
}

TEST_F(SlotGrantsTest, AForgottenTargetIsNotAwaited) {
  StartUp();
  ASSERT_TRUE(bus->OpenGrant(slots_, std::string(40, 'f'), kTime).ok());
  bus->GiveUpGrant(/*is_refused=*/false);
  Pass(kTime + 300);
  EXPECT_TRUE(IsServed());
}

TEST_F(SlotGrantsTest, NoGrantIsOpenedDuringAManualFailover) {
  Start(Nodes("a", "master", 'a'));
  Connect();
  Pass(3000);
  Deliver(From('e', BusMessageType::kManualFailoverStart));
  EXPECT_FALSE(bus->OpenGrant(slots_, IdOf('c'), kTime).ok());
}

TEST_F(SlotGrantsTest, AGrantHasNoEpochThatNodesRefuse) {
  StartUp();
  BusMessage ping = From('b', BusMessageType::kPing);
  ping.header.config_epoch = ping.header.current_epoch = kMostStatedEpoch;
  Deliver(ping);
  EXPECT_FALSE(bus->OpenGrant(slots_, IdOf('c'), kTime).ok());
}

TEST_F(SlotGrantsTest, ARestartDuringTheGrantServesOnlyAfterItsEnd) {
  StartUp();
  ASSERT_TRUE(bus->OpenGrant(slots_, IdOf('c'), 5000).ok());
  Restart();
  EXPECT_FALSE(IsServed());
  Pass(4000);
  EXPECT_TRUE(bus->IsUp());
  EXPECT_FALSE(IsServed());
  Pass(1500);
  EXPECT_TRUE(IsServed());
  EXPECT_EQ(OwnEpoch(), kEpoch + 2);
}

TEST_F(SlotGrantsTest, AClaimOfTheTargetEndsTheDoubt) {
  StartUp();
  ASSERT_TRUE(bus->OpenGrant(slots_, IdOf('c'), 5000).ok());
  Restart();
  ClaimByTarget();
  EXPECT_EQ(bus->topology().OwnerOf(10), &Node('c'));
  EXPECT_FALSE(bus->topology().grant.has_value());
  Pass(6000);
  EXPECT_EQ(OwnEpoch(), 1u);
  EXPECT_EQ(bus->topology().OwnerOf(10), &Node('c'));
}

TEST_F(SlotGrantsTest, NoManualFailoverStartsDuringAGrant) {
  Start(Nodes("a", "master", 'a'));
  Connect();
  Pass(3000);
  Open();
  Deliver(From('e', BusMessageType::kManualFailoverStart));
  EXPECT_FALSE(host.is_paused);
  bus->CloseGrant();
  Deliver(From('e', BusMessageType::kManualFailoverStart));
  EXPECT_TRUE(host.is_paused);
}

// This node is the target; b is the source.
class TakeoverTest : public SlotGrantsTest {
 protected:
  TakeoverTest() {
    slots_ = SlotSet();
    for (size_t slot = 5000; slot < 5010; ++slot) slots_.Insert(slot);
  }

  absl::Status Take(uint64_t epoch) { return bus->TakeSlots(slots_, {.granted_epoch = epoch}); }
};

TEST_F(TakeoverTest, TakesTheGrantedEpochExactly) {
  StartUp();
  BusMessage ping = From('b', BusMessageType::kPing);
  ping.header.current_epoch = kEpoch + 1;
  Deliver(ping);
  EXPECT_TRUE(Take(kEpoch).ok());
  EXPECT_EQ(OwnEpoch(), kEpoch);
  EXPECT_EQ(bus->topology().current_epoch, kEpoch + 1);
}

TEST_F(TakeoverTest, AnotherNodesEpochIsNotTaken) {
  StartUp();
  EXPECT_EQ(ErrorLine(Take(3)), "ERR The epoch of the cluster has changed. Try again.");
  EXPECT_EQ(ErrorLine(Take(2)), "ERR The epoch of the cluster has changed. Try again.");
  EXPECT_EQ(bus->topology().OwnerOf(5000), &Node('b'));
  EXPECT_EQ(OwnEpoch(), 1u);
}

class LateTakeoverTest : public TakeoverTest {
 protected:
  // The process stops between the save and the announcement.
  void TakeLate() {
    StartUp();
    int looks = 0;
    EXPECT_TRUE(bus->TakeSlots(slots_, {.granted_epoch = kEpoch,
                                        .is_in_time = [&] { return ++looks == 1; }})
                    .ok());
    EXPECT_EQ(looks, 2);
    EXPECT_TRUE(bus->IsWithheld(5000));
    EXPECT_TRUE(bus->Settle().ok());
  }

  BusMessage MessageOfSource(uint64_t config_epoch, bool claims) {
    BusMessage message = From('b', BusMessageType::kPong);
    message.header.config_epoch = config_epoch;
    message.header.current_epoch = 6;
    SlotSet slots = Node('b').slots;
    if (claims) slots_.ForEach([&](size_t slot) { slots.Insert(slot); });
    message.header.slots = slots.bytes();
    return message;
  }
};

TEST_F(LateTakeoverTest, WaitsForItsSource) {
  TakeLate();
  Deliver(MessageOfSource(2, /*claims=*/true));
  EXPECT_TRUE(bus->IsWithheld(5000)) << "the source does not know the takeover yet";
  Deliver(MessageOfSource(2, /*claims=*/false));
  EXPECT_TRUE(bus->WithheldSlots().empty());
  EXPECT_EQ(bus->topology().OwnerOf(5000), &bus->topology().self());
}

TEST_F(LateTakeoverTest, ASourceThatHasOutbidItKeepsTheSlots) {
  TakeLate();
  Deliver(MessageOfSource(6, /*claims=*/true));
  EXPECT_TRUE(bus->WithheldSlots().empty());
  EXPECT_EQ(bus->topology().OwnerOf(5000), &Node('b'));
}

TEST_F(LateTakeoverTest, ASourceThatFollowsThisNodeHasNoSlots) {
  TakeLate();
  BusMessage message = MessageOfSource(2, /*claims=*/true);
  message.header.master_id = IdOf('a');
  message.header.flags = kBusReplica;
  Deliver(message);
  EXPECT_TRUE(bus->WithheldSlots().empty());
  EXPECT_EQ(bus->topology().OwnerOf(5000), &bus->topology().self());
}

TEST_F(LateTakeoverTest, ASourceThatHasFailedDecidesNothing) {
  TakeLate();
  Pass(3000, "b");
  EXPECT_TRUE(bus->IsWithheld(5000));
  Gossip('c', 'b', kBusHasFailed);
  Pass(100, "b");
  EXPECT_TRUE(Node('b').has_failed);
  EXPECT_TRUE(bus->WithheldSlots().empty());
}

}  // namespace
}  // namespace slot_grants_test
}  // namespace zsetd
