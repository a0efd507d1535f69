// Messages of the bus and requests of clients in one round: a node serves no request in a role, or
// for a slot, that a message has ended before.
#include "server/cluster/node_host.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/hashing/key_slot.h"
#include "core/util/rng.h"
#include "protocol/resp/args.h"
#include "server/cluster/cluster_service.h"
#include "server/cluster/message/bus_message.h"
#include "server/cluster/topology/nodes_text.h"
#include "server/commands/all_commands.h"
#include "server/engine/port/concurrent_reads.h"
#include "server/engine/services/master_control.h"
#include "server/engine/support/errors.h"
#include "tests/server/cluster/bus_fixture.h"

namespace zsetd {
namespace {

constexpr Millis kNodeStart{1'800'000'000'000};
constexpr Micros kNodeBudget{1'000'000};
constexpr std::string_view kOfSelf = "{5}";   // slots of node b: this node
constexpr std::string_view kOfOther = "foo";  // of node c

class SilentConnection : public Connection {
 public:
  explicit SilentConnection(std::vector<BusMessage>& sent) : sent_(sent) {}
  Endpoints endpoints() const override {
    return {.address = "10.0.0.9:1", .local_address = "10.0.0.2:16379"};
  }
  OutputBuffer& output() override { return output_; }
  void Send() override {
    const std::optional<BusMessage> message = DecodeBusMessage(output_.view());
    ASSERT_TRUE(message.has_value());
    sent_.push_back(*message);
    output_.Clear();
  }
  size_t unsent_bytes() const override { return 0; }
  void set_receives(bool) override {}

 private:
  std::vector<BusMessage>& sent_;
  OutputBuffer output_;
};

// Records the messages to other nodes.
class SilentNetwork : public Connector, public PeerPort {
 public:
  std::unique_ptr<Connection> Connect(const Target&, Connection::Owner& owner) override {
    opened_.push_back(&owner);
    return std::make_unique<SilentConnection>(sent);
  }
  void CompleteConnections() {
    for (Connection::Owner* owner : std::exchange(opened_, {})) owner->OnConnected();
  }
  absl::Status ListenForPeers(int64_t, OnPeer on_peer) override {
    on_peer_ = std::move(on_peer);
    return absl::OkStatus();
  }

  // Another node connects. Returns null if it is not accepted.
  Connection::Owner* TryAccept() {
    Connection::Owner* accepted = nullptr;
    on_peer_([&](Connection::Owner& owner) {
      accepted = &owner;
      return std::make_unique<SilentConnection>(sent);
    });
    if (accepted != nullptr) accepted->OnConnected();
    return accepted;
  }

  std::vector<BusMessage> sent;

 private:
  OnPeer on_peer_;
  std::vector<Connection::Owner*> opened_;
};

class NodesInMemory : public NodesStorage {
 public:
  explicit NodesInMemory(std::string text) : text_(std::move(text)) {}
  absl::StatusOr<std::optional<std::string>> Load() override { return std::optional(text_); }
  absl::Status Save(std::string_view text, bool) override {
    if (is_full) return Refusal("the disk is full");
    if (on_save) on_save();
    text_ = text;
    return absl::OkStatus();
  }

  const std::string& text() const { return text_; }

  bool is_full = false;
  std::function<void()> on_save;

 private:
  std::string text_;
};

// The role, without a link to the master.
class RoleOnly : public MasterControl {
 public:
  explicit RoleOnly(Engine& engine)
      : engine_(engine), installation_(engine.services().master.Install(*this)) {}
  absl::Status Follow(std::string, int64_t, std::string_view) override {
    engine_.replication().set_is_replica(true);
    return absl::OkStatus();
  }
  void Promote(std::string_view) override { engine_.replication().set_is_replica(false); }
  MasterLinkStatus master_link() const override { return {}; }
  void CloseMasterLink() override {}
  std::string_view failover_state() const override { return "no-failover"; }
  absl::Status StartFailover(const FailoverRequest&) override { return absl::OkStatus(); }
  absl::Status AbortFailover() override { return absl::OkStatus(); }

 private:
  Engine& engine_;
  Installation installation_;
};

// Node b of Nodes(), with clients. Rounds end only by EndRound().
class NodeHostTest : public testing::Test {
 protected:
  struct Session {
    explicit Session(Engine& engine)
        : client(engine.clients().NextId(), "127.0.0.1:1", "127.0.0.1:2", engine.store().now(),
                 [] {}) {
      engine.clients().Attach(client);
    }
    Client client;
  };

  void SetUp() override {
    ASSERT_TRUE(service_.Load().ok());
    ASSERT_TRUE(service_.Listen(network_).ok());
    accepts_while_loading_ = network_.TryAccept() != nullptr;
    ASSERT_TRUE(service_.OnLoaded().ok());
    for (const char id : {'a', 'c', 'd'}) peers_[id] = network_.TryAccept();
    while (!service_.IsUp()) {
      Tick();
      network_.CompleteConnections();
    }
  }

  void TearDown() override {
    for (const auto& session : sessions_) engine_.clients().Detach(session->client);
  }

  void Tick() {
    passed_ += Millis(100);
    engine_.executor().AdvanceTo(engine_.store().now() + Millis(100));
    engine_.executor().Tick(kNodeBudget);
  }

  Client& Connect() {
    sessions_.push_back(std::make_unique<Session>(engine_));
    return sessions_.back()->client;
  }

  std::string Ask(Client& client, std::vector<std::string_view> words) {
    engine_.executor().Execute(client, words);
    return Replies(client);
  }

  static std::string Replies(Client& client) {
    return std::string(std::exchange(client.output.buffer, {}).view());
  }

  BusMessage From(char id, BusMessageType type) const {
    BusMessage message;
    BusHeader& header = message.header;
    header.type = type;
    header.sender = IdOf(id);
    header.port = 6379;
    header.bus_port = 16379;
    header.is_up = true;
    header.current_epoch = 3;
    header.flags = id == 'd' ? kBusReplica : kBusMaster;
    if (id == 'd') header.master_id = IdOf('b');
    header.config_epoch = id == 'a' ? 1 : id == 'c' ? 3 : 2;
    header.slots = Slots(id == 'a'   ? 0
                         : id == 'c' ? 10000
                                     : 5000,
                         id == 'a'   ? 4999
                         : id == 'c' ? 16383
                                     : 9999);
    return message;
  }

  static SlotSet::Bytes Slots(size_t first, size_t last) {
    SlotSet slots;
    for (size_t slot = first; slot <= last; ++slot) slots.Insert(slot);
    return slots.bytes();
  }

  void Deliver(const BusMessage& message) {
    peers_[message.header.sender[0]]->OnReceived(EncodeBusMessage(message));
  }

  // Node d requests a manual failover, which pauses the writes.
  void StartFailover() { Deliver(From('d', BusMessageType::kManualFailoverStart)); }

  // Node d has been elected, and takes all slots of this node.
  void PromoteReplica() {
    BusMessage claim = From('d', BusMessageType::kPong);
    claim.header.flags = kBusMaster;
    claim.header.master_id.clear();
    claim.header.config_epoch = claim.header.current_epoch = 4;
    Deliver(claim);
  }

  // Node c takes the slot of a key.
  void LoseSlotOf(std::string_view key) {
    BusMessage claim = From('c', BusMessageType::kPong);
    claim.header.config_epoch = claim.header.current_epoch = 5;
    SlotSet slots(claim.header.slots);
    slots.Insert(KeySlot(key));
    claim.header.slots = slots.bytes();
    Deliver(claim);
  }

  // Node c starts to move the slot of a key to this node, and sends the key.
  Client& ImportKey(std::string_view key) {
    Client& source = Connect();
    const std::string slot = std::to_string(KeySlot(key));
    EXPECT_EQ(Ask(source, {"CLUSTER", "SYNCSLOTS", "BEGIN", "SOURCE", IdOf('c'), "NAME", IdOf('9'),
                           "SLOTSRANGE", slot, slot}),
              "+OK\r\n");
    EXPECT_EQ(Ask(source, {"SET", key, "imported"}), "+OK\r\n");
    return source;
  }

  std::string FinishImport(Client& source) {
    EXPECT_EQ(Ask(source, {"CLUSTER", "SYNCSLOTS", "PAUSED"}), "+OK\r\n");
    return Ask(source, {"CLUSTER", "SYNCSLOTS", "FINISH", "1000", "100"});
  }

  // An import of a key ends because node c is forgotten. The key's slot has no owner then.
  void LoseSourceOf(std::string_view key) {
    ImportKey(key);
    EXPECT_EQ(Ask(Connect(), {"CLUSTER", "FORGET", IdOf('c')}), "+OK\r\n");
    for (int i = 0; i < 3; ++i) Tick();
  }

  std::string CountKeysInSlotOf(std::string_view key) {
    return Ask(Connect(), {"CLUSTER", "COUNTKEYSINSLOT", std::to_string(KeySlot(key))});
  }

  static Settings ClusterSettings() {
    Settings settings;
    settings.cluster_enabled = true;
    settings.save.points.clear();
    return settings;
  }

  static Host HostOf(Engine& engine, const Micros& passed) {
    return {.apply = [](const Settings&) { return absl::OkStatus(); },
            .stopwatch = [&passed] { return passed; },
            .wall_clock = [&engine] { return Micros(engine.store().now()); },
            .sleep = [](Micros) {},
            .free_in_background = [](const std::shared_ptr<void>&) {},
            .executable = {},
            .config_file = {}};
  }

  Micros passed_{0};
  Engine engine_{ClusterSettings(), AllCommands(), 1, kNodeStart, HostOf(engine_, passed_)};
  RoleOnly role_{engine_};
  NodesInMemory nodes_{Nodes("b")};
  SilentNetwork network_;
  ClusterService service_{engine_, nodes_, network_};
  std::map<char, Connection::Owner*> peers_;
  bool accepts_while_loading_ = true;
  std::vector<std::unique_ptr<Session>> sessions_;
};

std::string KeyOf(std::string_view tag, std::string_view name) {
  return std::string(tag) + std::string(name);
}

TEST_F(NodeHostTest, ServesItsSlots) {
  ASSERT_TRUE(5000 <= KeySlot(kOfSelf) && KeySlot(kOfSelf) < 10000) << KeySlot(kOfSelf);
  ASSERT_TRUE(10000 <= KeySlot(kOfOther)) << KeySlot(kOfOther);
  Client& client = Connect();
  EXPECT_EQ(Ask(client, {"INCR", kOfSelf}), ":1\r\n");
  EXPECT_EQ(Ask(client, {"INCR", kOfOther}).substr(0, 6), "-MOVED");
}

TEST_F(NodeHostTest, NoNodeConnectsWhileItLoads) { EXPECT_FALSE(accepts_while_loading_); }

TEST_F(NodeHostTest, AFailoverThatDoesNotEndPausesWritesForItsTimeWhateverTheClockIsSetTo) {
  StartFailover();
  engine_.executor().AdvanceTo(engine_.store().now() - std::chrono::hours(1));
  const auto is_paused = [&] { return engine_.clients().pause().IsOn(engine_.store().now()); };
  for (int ticks = 0; ticks < 49; ++ticks) Tick();
  EXPECT_TRUE(is_paused());
  for (int ticks = 0; ticks < 3; ++ticks) Tick();
  EXPECT_FALSE(is_paused());
}

TEST_F(NodeHostTest, AWriteInTheRoundOfTheHandOverIsRedirected) {
  Client& client = Connect();
  StartFailover();
  PromoteReplica();
  EXPECT_EQ(Ask(client, {"INCR", kOfSelf}).substr(0, 6), "-MOVED");
  EXPECT_EQ(Ask(client, {"EVAL", "return 1", "1", kOfSelf}).substr(0, 6), "-MOVED");
}

TEST_F(NodeHostTest, AWriteAfterAMessageThatMovesASlotIsRedirected) {
  Client& client = Connect();
  EXPECT_EQ(Ask(client, {"INCR", kOfSelf}), ":1\r\n");
  LoseSlotOf(kOfSelf);
  EXPECT_EQ(Ask(client, {"INCR", kOfSelf}).substr(0, 6), "-MOVED");
  engine_.executor().EndRound();
  EXPECT_EQ(Ask(client, {"INCR", kOfSelf}).substr(0, 6), "-MOVED");
}

TEST_F(NodeHostTest, ASharedReadAfterAMessageThatMovesASlotRunsAlone) {
  Client& client = Connect();
  ConcurrentReads reads(engine_);
  const std::string_view words[] = {"GET", kOfSelf};
  ASSERT_TRUE(reads.MayBegin(engine_.store().now()));
  EXPECT_TRUE(reads.Run(client, words));
  LoseSlotOf(kOfSelf);
  EXPECT_FALSE(reads.Run(client, words));
}

// Requests without keys are not redirected.
TEST_F(NodeHostTest, PausedRequestsWithoutKeysFindTheNewRole) {
  Client& client = Connect();
  Client& other = Connect();
  EXPECT_EQ(Ask(client, {"INCR", kOfSelf}), ":1\r\n");
  StartFailover();
  EXPECT_EQ(Ask(client, {"FLUSHALL"}), "");
  PromoteReplica();
  EXPECT_EQ(Ask(other, {"PING"}), "+PONG\r\n");
  EXPECT_EQ(Replies(client).substr(0, 9), "-READONLY");
  EXPECT_EQ(Ask(other, {"FLUSHALL"}).substr(0, 9), "-READONLY");
}

TEST_F(NodeHostTest, ATransactionInTheRoundOfTheHandOverIsRedirectedAsAWhole) {
  Client& client = Connect();
  Ask(client, {"MULTI"});
  Ask(client, {"INCR", kOfSelf});
  PromoteReplica();
  EXPECT_EQ(Ask(client, {"EXEC"}).substr(0, 6), "-MOVED");
}

TEST_F(NodeHostTest, AWaitingClientIsNotServedFromASlotThatHasMoved) {
  const std::string key = KeyOf(kOfSelf, "due");
  Client& client = Connect();
  Client& waiting = Connect();
  EXPECT_EQ(Ask(waiting, {"BZPOPBYSCORE", "0", key, "-inf", "nowms"}), "");
  const std::string soon = std::to_string(engine_.store().now().count() + 50);
  EXPECT_EQ(Ask(client, {"ZADD", key, soon, "member"}), ":1\r\n");
  LoseSlotOf(key);
  engine_.executor().BeginBatch(engine_.store().now() + Millis(100));
  EXPECT_EQ(Replies(waiting).substr(0, 6), "-MOVED");
}

// A script that is suspended when the failover begins changes data until it ends. Until then the
// replica must not take the offset for the last one.
TEST_F(NodeHostTest, AMasterAnnouncesAPauseWhenNoScriptRuns) {
  const auto announces = [&] {
    return std::ranges::any_of(
        network_.sent, [](const BusMessage& message) { return message.header.has_paused_clients; });
  };
  engine_.mode().set_suspended(true);
  StartFailover();
  EXPECT_FALSE(announces());
  engine_.mode().set_suspended(false);
  Tick();
  EXPECT_TRUE(announces());
}

TEST_F(NodeHostTest, AMasterAnnouncesNoPauseWhileItHandsSlotsOver) {
  ClientPause& pause = engine_.clients().pause();
  const Millis now = engine_.store().now();
  pause.Begin(ClientPause::Cause::kMigration, ClientPause::Reach::kWrites, now, now + Millis(500));
  StartFailover();
  for (const BusMessage& message : network_.sent) EXPECT_FALSE(message.header.has_paused_clients);
  for (int i = 0; i < 6; ++i) Tick();
  EXPECT_TRUE(network_.sent.back().header.has_paused_clients);
}

// The source would delete its keys, and after a restart this node would delete its own.
TEST_F(NodeHostTest, AnImportThatCannotBeSavedLeavesTheSlotToItsSource) {
  Client& source = ImportKey(kOfOther);
  nodes_.is_full = true;
  EXPECT_EQ(FinishImport(source),
            "-ERR The takeover of the slots cannot be saved: the disk is full\r\n");
  EXPECT_EQ(service_.StateOf(KeySlot(kOfOther)).owner, ClusterControl::Owner::kOther);
  EXPECT_EQ(Ask(Connect(), {"DBSIZE"}), ":0\r\n");
  nodes_.is_full = false;
  EXPECT_EQ(FinishImport(source), "+OK\r\n");
  EXPECT_EQ(service_.StateOf(KeySlot(kOfOther)).owner, ClusterControl::Owner::kSelf);
  EXPECT_EQ(Ask(Connect(), {"GET", kOfOther}), "$8\r\nimported\r\n");
}

// Afterwards the source may accept writes. Neither node compares its clock with that of the other
// one.
TEST_F(NodeHostTest, AnImportTakesTheSlotsOnlyWhileTheSourceHasPaused) {
  Client& source = ImportKey(kOfOther);
  EXPECT_EQ(Ask(source, {"CLUSTER", "SYNCSLOTS", "FINISH", "1000", "100"}),
            "-ERR The source has not announced its pause.\r\n");
  passed_ = Millis(5'000);
  EXPECT_EQ(Ask(source, {"CLUSTER", "SYNCSLOTS", "PAUSED"}), "+OK\r\n");
  EXPECT_EQ(Ask(source, {"CLUSTER", "SYNCSLOTS", "FINISH", "-1", "100"}),
            "-ERR It is too late to take the slots.\r\n");
  passed_ = Millis(6'000);
  EXPECT_EQ(Ask(source, {"CLUSTER", "SYNCSLOTS", "FINISH", "1000", "100"}),
            "-ERR It is too late to take the slots.\r\n");
  EXPECT_EQ(service_.StateOf(KeySlot(kOfOther)).owner, ClusterControl::Owner::kOther);
  EXPECT_EQ(Ask(source, {"CLUSTER", "SYNCSLOTS", "FINISH", "1001", "100"}), "+OK\r\n");
  EXPECT_EQ(service_.StateOf(KeySlot(kOfOther)).owner, ClusterControl::Owner::kSelf);
}

// The source ends its pause during the save.
TEST_F(NodeHostTest, AnImportThatIsSavedTooLateLeavesTheSlotToItsSource) {
  Client& source = ImportKey(kOfOther);
  network_.sent.clear();
  nodes_.on_save = [this] { passed_ += Millis(1'000); };
  EXPECT_EQ(FinishImport(source), "-ERR It is too late to take the slots.\r\n");
  nodes_.on_save = nullptr;
  EXPECT_EQ(service_.StateOf(KeySlot(kOfOther)).owner, ClusterControl::Owner::kOther);
  EXPECT_EQ(network_.sent.size(), 0u);
  const absl::StatusOr<Topology> saved = ReadNodesText(nodes_.text());
  ASSERT_TRUE(saved.ok()) << saved.status();
  EXPECT_EQ(saved->OwnerOf(KeySlot(kOfOther)), saved->Find(IdOf('c')));
}

// The source outbids the granted epoch if it gives up.
TEST_F(NodeHostTest, AnImportTakesNoEpochAboveTheGrantedOne) {
  Client& source = ImportKey(kOfOther);
  EXPECT_EQ(Ask(source, {"CLUSTER", "SYNCSLOTS", "PAUSED"}), "+OK\r\n");
  EXPECT_EQ(Ask(source, {"CLUSTER", "SYNCSLOTS", "FINISH", "1000", "3"}),
            "-ERR The epoch of the cluster has changed. Try again.\r\n");
  EXPECT_EQ(service_.StateOf(KeySlot(kOfOther)).owner, ClusterControl::Owner::kOther);
  EXPECT_EQ(Ask(source, {"CLUSTER", "SYNCSLOTS", "FINISH", "1000", "4"}), "+OK\r\n");
}

// A clock that is set forward must not end the pause: the target may be taking the slots.
TEST_F(NodeHostTest, TheClockDoesNotEndThePauseOfAManualFailover) {
  StartFailover();
  const ClientPause& pause = engine_.clients().pause();
  engine_.executor().AdvanceTo(engine_.store().now() + Millis(3'600'000));
  EXPECT_TRUE(pause.IsOn(ClientPause::Cause::kFailover, engine_.store().now()));
}

TEST_F(NodeHostTest, KeysOfAFailedImportStayHiddenUntilTheirSlotHasAnOwner) {
  LoseSourceOf(kOfOther);
  EXPECT_EQ(service_.StateOf(KeySlot(kOfOther)).owner, ClusterControl::Owner::kNone);
  EXPECT_EQ(CountKeysInSlotOf(kOfOther), ":1\r\n");
  EXPECT_EQ(Ask(Connect(), {"DBSIZE"}), ":0\r\n");
  EXPECT_FALSE(service_.HasWork()) << "it waits";
  const std::string slot = std::to_string(KeySlot(kOfOther));
  EXPECT_EQ(Ask(Connect(), {"CLUSTER", "SETSLOT", slot, "IMPORTING", IdOf('a')}).substr(0, 4),
            "-ERR");
  EXPECT_EQ(Ask(Connect(), {"DBSIZE"}), ":0\r\n");

  BusMessage claim = From('a', BusMessageType::kPing);
  SlotSet slots(claim.header.slots);
  slots.Insert(KeySlot(kOfOther));
  claim.header.slots = slots.bytes();
  Deliver(claim);
  Tick();
  EXPECT_EQ(CountKeysInSlotOf(kOfOther), ":0\r\n");
}

// They may be the last copy.
TEST_F(NodeHostTest, AnAdministratorCanKeepTheKeysOfASlotWithoutAnOwner) {
  LoseSourceOf(kOfOther);
  const std::string slot = std::to_string(KeySlot(kOfOther));
  EXPECT_EQ(Ask(Connect(), {"CLUSTER", "ADDSLOTS", slot}), "+OK\r\n");
  for (int i = 0; i < 3; ++i) Tick();
  EXPECT_EQ(CountKeysInSlotOf(kOfOther), ":1\r\n");
  EXPECT_EQ(Ask(Connect(), {"DBSIZE"}), ":1\r\n");
}

// No message of any other node lets this one serve a write that the messages before have forbidden.
TEST_F(NodeHostTest, NeverServesWhatTheTopologyForbids) {
  constexpr int kSteps = 300;
  constexpr uint64_t kKeys = 50;
  constexpr uint64_t kSeed = 1;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Rng rng(kSeed);
  Client& client = Connect();
  uint64_t epoch = 5;
  int served = 0;
  std::string claimed = "key:0";  // the last key whose slot another node has taken
  for (int step = 0; step < kSteps; ++step) {
    const std::string any = "key:" + std::to_string(rng.Below(kKeys));
    const std::string key = rng.Below(2) == 0 ? any : claimed;
    const size_t slot = KeySlot(key);
    switch (rng.Below(6)) {
      case 0: {
        BusMessage claim = From(rng.Below(2) == 0 ? 'a' : 'c', BusMessageType::kPing);
        claim.header.config_epoch = claim.header.current_epoch = ++epoch;
        SlotSet slots(claim.header.slots);
        for (int i = 0; i < 2; ++i) {
          claimed = "key:" + std::to_string(rng.Below(kKeys));
          slots.Insert(KeySlot(claimed));
        }
        claim.header.slots = slots.bytes();
        Deliver(claim);
        break;
      }
      case 1:
        engine_.executor().EndRound();
        break;
      case 2:
        if (rng.Below(10) == 0) Tick();
        break;
      case 3: {
        const SlotRange range = {static_cast<uint16_t>(slot), static_cast<uint16_t>(slot)};
        (void)service_.DeleteSlots({&range, 1});
        (void)service_.AddSlots({&range, 1});
        break;
      }
      default: {
        const auto owner = service_.StateOf(slot).owner;
        const std::string reply = Ask(client, {"INCR", key});
        const bool is_served = reply.starts_with(":");
        served += is_served;
        EXPECT_EQ(is_served, service_.IsUp() && owner == ClusterControl::Owner::kSelf)
            << "step " << step << ": " << reply;
      }
    }
  }
  EXPECT_GT(served, kSteps / 30);
}

// A node before its start.
class NodeStartTest : public NodeHostTest {
 protected:
  void SetUp() override {}

  std::string ErrorWith(int64_t port, int64_t cluster_port) {
    Settings settings = engine_.settings();
    settings.port = port;
    settings.cluster_port = cluster_port;
    EXPECT_TRUE(engine_.Configure(settings).ok());
    return std::string(ErrorLine(service_.Load()));
  }
};

TEST_F(NodeStartTest, AWrongPortSavesNothing) {
  const std::string before = nodes_.text();
  EXPECT_EQ(ErrorWith(60000, 0),
            "The port of the cluster bus would be 70000: set cluster-port, or a port below 55536");
  EXPECT_EQ(nodes_.text(), before);
}

TEST_F(NodeStartTest, AHighPortNeedsAClusterPort) {
  EXPECT_EQ(ErrorWith(60000, 7), "");
  EXPECT_NE(nodes_.text().find(":60000@7 "), std::string::npos) << nodes_.text();
}

}  // namespace
}  // namespace zsetd
