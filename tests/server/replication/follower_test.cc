// A replica keeps its connection, its disk and its data consistent, whatever its master does.
#include "server/replication/follower.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "protocol/rdb/rdb_file.h"
#include "server/engine/support/errors.h"
#include "tests/transcript/engine_peer.h"
#include "tests/transcript/transcript.h"

namespace zsetd::follower_test {
namespace {

using Kind = MemoryFiles::Operation::Kind;
using Words = std::vector<std::string>;
using std::chrono::seconds;

const std::string kId(40, 'a');
const std::string kIntroduced = "+PONG\r\n+OK\r\n+OK\r\n+OK\r\n";
const std::string kNewKey =
    std::string("REDIS0010\x00\x03new\x01", 15) + "1\xff" + std::string(8, 0);

std::string FullSync(const std::string& snapshot) {
  return kIntroduced + "+FULLRESYNC " + kId + " 100\r\n$" + std::to_string(snapshot.size()) +
         "\r\n" + snapshot;
}

// Appends warnings to a text, one per line.
class WarningLog : public Log {
 public:
  explicit WarningLog(std::string& lines) : lines_(lines) {}
  bool IsOn(LogLevel level) const override { return level == LogLevel::kWarning; }
  void Write(LogLevel level, std::string_view text) const override {
    if (IsOn(level)) lines_.append(text).append("\n");
  }

 private:
  std::string& lines_;
};

// A network whose other end is the test.
class FakeConnector : public Connector {
 public:
  std::unique_ptr<Connection> Connect(const Target& target, Connection::Owner& owner) override {
    ++tries;
    last_target = target;
    return std::make_unique<FakeConnection>(*this, owner);
  }

  bool IsOpen() const { return open != nullptr; }
  std::string Sent() {
    std::string sent(open->output().view());
    open->output().Clear();
    return sent;
  }

  class FakeConnection : public Connection {
   public:
    FakeConnection(FakeConnector& network, Owner& its_owner) : owner(its_owner), network_(network) {
      network.open = this;
    }
    ~FakeConnection() override { network_.open = nullptr; }
    Endpoints endpoints() const override {
      return {.address = "10.0.0.1:6379", .local_address = "10.0.0.2:50000", .descriptor = 7};
    }
    OutputBuffer& output() override { return output_; }
    void Send() override {}
    size_t unsent_bytes() const override { return output_.size(); }
    void set_receives(bool now) override { receives = now; }

    Owner& owner;
    bool receives = true;

   private:
    FakeConnector& network_;
    OutputBuffer output_;
  };

  FakeConnection* open = nullptr;
  int tries = 0;
  Target last_target;
};

Settings SettingsOfReplica(bool with_log) {
  Settings settings;
  settings.enable_debug_command = DangerousAccess::kYes;
  settings.save.points.clear();
  settings.dir = "/data";
  settings.appendonly = with_log;
  settings.appendfsync = AppendFsync::kAlways;
  return settings;
}

std::string Ask(EnginePeer& peer, const Words& words) {
  peer.Send("a", Multibulk(words));
  return peer.Receive("a", Millis(0));
}

class FollowerTest : public testing::Test, public Follower::Listener {
 protected:
  explicit FollowerTest(bool with_log = false)
      : peer_(SettingsOfReplica(with_log), {}, [this] { return elapsed_; }) {
    EXPECT_TRUE(peer_.persistence().Start().ok());
    Ask(peer_, {"SET", "own", "1"});
  }

  void BeforeNewHistory() override {}
  void OnNewHistory() override { ++histories_; }
  void OnNewId() override { ++ids_; }

  void Start() { follower_.Start({"master", 6379}, std::nullopt); }
  void Pass(Millis time) {
    elapsed_ += time;
    peer_.Pass(time);
    follower_.Tick();
  }
  void Connected() { network_.open->owner.OnConnected(); }
  void Receive(const std::string& bytes) { network_.open->owner.OnReceived(bytes); }
  void End() { network_.open->owner.OnConnectionEnd("the cable is cut"); }
  void Load() {
    while (follower_.status().is_syncing) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      peer_.persistence().Tick(Micros(1000));
    }
  }
  void Link(const std::string& snapshot = kNewKey) {
    Connected();
    Receive(FullSync(snapshot));
    Load();
  }
  std::string Get(const std::string& key) { return Ask(peer_, {"GET", key}); }
  bool IsLinked() const { return follower_.status().state == "connected"; }
  bool HasDraft() const {
    for (const auto& [path, bytes] : peer_.files().contents()) {
      if (path.find("temp-") != std::string::npos) return true;
    }
    return false;
  }

  Micros elapsed_{1'000'000};  // since the machine's start
  mutable EnginePeer peer_;
  FakeConnector network_;
  std::string log_;
  WarningLog warnings_{log_};
  int histories_ = 0;
  int ids_ = 0;
  Follower follower_{peer_.engine(), peer_.persistence(), network_, *this, warnings_};
};

const std::string kNone = "$-1\r\n";
const std::string kOne = "$1\r\n1\r\n";

TEST_F(FollowerTest, TakesOverTheMastersData) {
  Start();
  EXPECT_EQ(network_.last_target.host, "master");
  EXPECT_EQ(follower_.status().state, "connecting");
  Link();
  EXPECT_TRUE(IsLinked());
  EXPECT_TRUE(peer_.engine().replication().link_up());
  EXPECT_EQ(peer_.engine().replication().id(), kId);
  EXPECT_EQ(peer_.engine().replication().offset(), 100);
  EXPECT_EQ(Get("own") + Get("new"), kNone + kOne);
  EXPECT_EQ(histories_, 1);
  EXPECT_FALSE(HasDraft());
}

TEST_F(FollowerTest, RetriesASecondAfterTheLinkHasEnded) {
  Start();
  for (int tries = 1; tries <= 5; ++tries) {
    EXPECT_EQ(network_.tries, tries);
    if (tries > 2) Connected();
    End();
    EXPECT_FALSE(network_.IsOpen());
    Pass(Millis(900));
    EXPECT_EQ(network_.tries, tries);
    Pass(Millis(100));
  }
  EXPECT_EQ(Get("own"), kOne);
}

TEST_F(FollowerTest, GivesUpALinkThatIsSilent) {
  const auto expect_given_up = [this] {
    Pass(seconds(59));
    EXPECT_TRUE(network_.IsOpen());
    Pass(seconds(2));
    EXPECT_FALSE(network_.IsOpen());
    Pass(seconds(1));
    EXPECT_TRUE(network_.IsOpen());
  };
  Start();
  expect_given_up();  // before it is connected
  Connected();
  expect_given_up();
  Connected();
  Receive(kIntroduced);
  expect_given_up();
  Link();
  Pass(seconds(30));
  Receive(Multibulk({"PING"}));
  expect_given_up();
}

TEST_F(FollowerTest, GivesUpAMasterThatDoesNotReplyToTheHandshake) {
  Start();
  Connected();
  for (int i = 0; i < 12; ++i) {
    EXPECT_TRUE(network_.IsOpen());
    Pass(seconds(5));
    Receive("\n");
  }
  Pass(seconds(1));
  EXPECT_FALSE(network_.IsOpen());
  EXPECT_NE(log_.find("the handshake has taken more than 60 seconds"), std::string::npos);
}

// A master sends signs of life until it begins a snapshot.
TEST_F(FollowerTest, WaitsForASnapshotThatIsPrepared) {
  Start();
  Connected();
  Receive(kIntroduced);
  for (int i = 0; i < 60; ++i) {
    Pass(seconds(5));
    ASSERT_TRUE(network_.IsOpen());
    Receive("\n");
  }
}

TEST_F(FollowerTest, AcknowledgesItsOffsetEverySecond) {
  Start();
  Link();
  EXPECT_TRUE(network_.Sent().ends_with(Multibulk({"REPLCONF", "ACK", "100"})));
  Pass(seconds(1));
  EXPECT_EQ(network_.Sent(), Multibulk({"REPLCONF", "ACK", "100"}));
  Receive(Multibulk({"PING"}));
  EXPECT_EQ(network_.Sent(), "");
  Pass(seconds(1));
  EXPECT_EQ(network_.Sent(), Multibulk({"REPLCONF", "ACK", "114"}));
  Receive(Multibulk({"REPLCONF", "GETACK", "*"}));
  EXPECT_EQ(network_.Sent(), Multibulk({"REPLCONF", "ACK", "151"}));
}

TEST_F(FollowerTest, SettingTheClockNeitherEndsTheLinkNorDelaysAcknowledgments) {
  Start();
  Link();
  for (const Millis change : {Millis(std::chrono::hours(-1)), Millis(std::chrono::hours(2))}) {
    network_.Sent();
    Executor& executor = peer_.engine().executor();
    executor.AdvanceTo(peer_.engine().store().now() + change);
    Pass(seconds(1));
    ASSERT_TRUE(IsLinked()) << change.count();
    EXPECT_EQ(network_.Sent(), Multibulk({"REPLCONF", "ACK", "100"})) << change.count();
    EXPECT_LE(follower_.status().silent_for, Millis(2000));
  }
}

TEST_F(FollowerTest, SendsSignsOfLifeDuringTheSnapshot) {
  Start();
  Connected();
  const std::string all = FullSync(kNewKey);
  Receive(all.substr(0, all.size() - 1));
  network_.Sent();
  EXPECT_EQ(follower_.status().state, "sync");
  EXPECT_EQ(follower_.status().sync_read_bytes, static_cast<int64_t>(kNewKey.size() - 1));
  EXPECT_EQ(follower_.status().sync_total_bytes, static_cast<int64_t>(kNewKey.size()));
  Pass(seconds(1));
  EXPECT_EQ(network_.Sent(), "\n");
  EXPECT_EQ(Get("own"), kOne);
  Receive(all.substr(all.size() - 1));
  Load();
  EXPECT_TRUE(IsLinked());
}

TEST_F(FollowerTest, ContinuesAtItsOffset) {
  Start();
  Link();
  const std::string select = Multibulk({"SELECT", "3"});
  Receive(select + "*3\r\n$3\r\nSET\r\n$1\r\na");
  End();
  EXPECT_FALSE(peer_.engine().replication().link_up());
  Pass(seconds(1));
  Connected();
  Receive(kIntroduced);
  const std::string next = std::to_string(101 + select.size());
  EXPECT_TRUE(network_.Sent().ends_with(Multibulk({"PSYNC", kId, next})));
  Receive("+CONTINUE " + std::string(40, 'b') + "\r\n" + Multibulk({"SET", "a", "1"}));
  EXPECT_EQ(peer_.engine().replication().second_id(), kId);
  EXPECT_EQ(ids_, 1);
  EXPECT_EQ(histories_, 1);
  Ask(peer_, {"SELECT", "3"});
  EXPECT_EQ(Get("a"), kOne);
}

TEST_F(FollowerTest, KeepsItsDataWhenTheSnapshotCannotBeStored) {
  for (const Kind kind : {Kind::kCreate, Kind::kWrite}) {
    peer_.files().set_failure([kind](const MemoryFiles::Operation& operation) {
      return operation.kind == kind ? absl::InternalError("the disk is full") : absl::OkStatus();
    });
    Start();
    Connected();
    Receive(FullSync(kNewKey));
    EXPECT_NE(log_.find("the disk is full"), std::string::npos);
    EXPECT_FALSE(network_.IsOpen());
    EXPECT_EQ(Get("own"), kOne);
    EXPECT_FALSE(HasDraft());
    log_.clear();
  }
  peer_.files().set_failure(nullptr);
  Pass(seconds(1));
  Link();
  EXPECT_EQ(Get("new"), kOne);
}

TEST_F(FollowerTest, WaitsLongerAfterEachUselessSnapshot) {
  Start();
  for (const int pause : {1, 2, 4, 8, 16, 32, 60, 60}) {
    Connected();
    Receive(FullSync("REDIS0099 what nobody knows"));
    EXPECT_FALSE(network_.IsOpen());
    Pass(seconds(pause) - Millis(1));
    EXPECT_FALSE(network_.IsOpen()) << pause;
    Pass(Millis(1));
    EXPECT_TRUE(network_.IsOpen()) << pause;
  }
  Link();
  for (int i = 0; i < 7; ++i) {  // a link that stays up
    Pass(seconds(10));
    Receive(Multibulk({"PING"}));
  }
  Receive(Multibulk({"UNKNOWN"}));
  Pass(seconds(1));
  EXPECT_TRUE(network_.IsOpen());
}

TEST_F(FollowerTest, KeepsItsDataUntilTheNewDataIsLoaded) {
  Ask(peer_, {"CONFIG", "SET", "repl-diskless-load", "swapdb"});
  Start();
  Connected();
  Receive(FullSync(kNewKey) + Multibulk({"SET", "later", "1"}));
  EXPECT_FALSE(network_.open->receives);
  EXPECT_EQ(Get("own") + Get("new"), kOne + kNone);
  Load();
  EXPECT_TRUE(network_.open->receives);
  EXPECT_EQ(Get("own") + Get("new") + Get("later"), kNone + kOne + kOne);
}

TEST_F(FollowerTest, KeepsItsDataWhenTheSnapshotIsDamaged) {
  Ask(peer_, {"CONFIG", "SET", "repl-diskless-load", "swapdb"});
  Start();
  Link(kNewKey.substr(0, 12) + "\xee\xee\xee");
  EXPECT_FALSE(network_.IsOpen());
  EXPECT_EQ(Get("own"), kOne);
  EXPECT_EQ(histories_, 0);
  EXPECT_FALSE(HasDraft());
}

// Returns a snapshot of all types from another server.
std::string AllTypes() {
  EnginePeer peer(SettingsOfReplica(/*with_log=*/false));
  for (int i = 0; i < 40; ++i) {
    const std::string n = std::to_string(i);
    Ask(peer, {"ZADD", "z", n, "m" + n});
    Ask(peer, {"SADD", "s", n, "m"});
    Ask(peer, {"RPUSH", "l", n, std::string(i, 'l')});
    Ask(peer, {"HSET", "h", n, "value"});
    Ask(peer, {"SET", "t" + n, n, "EX", "9"});
  }
  Ask(peer, {"HEXPIRE", "h", "9", "FIELDS", "1", "3"});
  Ask(peer, {"ZEXPIRE", "z", "9", "MEMBERS", "1", "m3"});
  Ask(peer, {"FUNCTION", "LOAD",
             "#!lua name=other\nredis.register_function('g', function() return 2 end)"});
  Ask(peer, {"SAVE"});
  return peer.files().contents().at("/data/dump.rdb");
}

// In every other round the checksum is 0, which disables its verification, so the values are
// damaged.
TEST_F(FollowerTest, KeepsItsDataAndFunctionsWhateverPrefixOrDamageTheSnapshotHas) {
  Ask(peer_, {"FUNCTION", "LOAD",
              "#!lua name=own\nredis.register_function('f', function() return 1 end)"});
  const std::string before = Ask(peer_, {"DEBUG", "DIGEST"}) + Ask(peer_, {"FUNCTION", "DUMP"});
  const std::string whole = AllTypes();
  size_t refused = 0;
  const auto check = [&](const std::string& snapshot, const std::string& what) {
    log_.clear();
    Start();
    Link(snapshot);
    if (log_.find("Failed trying") == std::string::npos &&
        log_.find("Cannot use the snapshot") == std::string::npos) {
      EXPECT_TRUE(IsLinked()) << what << log_;  // the damaged bytes are valid data
      follower_.Stop();
      Ask(peer_, {"FLUSHALL"});
      Ask(peer_, {"FUNCTION", "FLUSH"});
      Ask(peer_, {"SET", "own", "1"});
      Ask(peer_, {"FUNCTION", "LOAD",
                  "#!lua name=own\nredis.register_function('f', function() return 1 end)"});
      return;
    }
    ++refused;
    ASSERT_EQ(Ask(peer_, {"DEBUG", "DIGEST"}) + Ask(peer_, {"FUNCTION", "DUMP"}), before)
        << what << log_;
    EXPECT_FALSE(HasDraft());
    EXPECT_FALSE(peer_.engine().mode().is_loading());
  };
  for (size_t size = 0; size < whole.size(); ++size) {
    check(whole.substr(0, size), "prefix of " + std::to_string(size));
  }
  EXPECT_EQ(refused, whole.size());
  std::string unsummed = whole;
  unsummed.replace(unsummed.size() - 8, 8, std::string(8, '\0'));
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    std::string damaged = i % 2 == 0 ? whole : unsummed;
    const size_t at = random() % damaged.size();
    damaged[at] = static_cast<char>(random());
    check(damaged, "byte " + std::to_string(at));
  }
  EXPECT_GT(refused, whole.size() + 500);
}

TEST_F(FollowerTest, KeepsItsDataWhenLibrariesOfTheSnapshotCannotBeLoaded) {
  Ask(peer_, {"FUNCTION", "LOAD",
              "#!lua name=own\nredis.register_function('f', function() return 1 end)"});
  const std::string before = Ask(peer_, {"FUNCTION", "DUMP"});
  std::string snapshot;
  RdbFileWriter writer(snapshot, /*compresses=*/false);
  writer.Magic();
  writer.Functions("#!lua name=broken\nsyntax error");
  writer.End();
  snapshot += std::string(8, '\0');
  Start();
  Link(snapshot);
  EXPECT_NE(log_.find("libraries of functions"), std::string::npos) << log_;
  EXPECT_EQ(log_.find("Flushing"), std::string::npos) << log_;
  EXPECT_EQ(Get("own"), kOne);
  EXPECT_EQ(Ask(peer_, {"FUNCTION", "DUMP"}), before);
  EXPECT_EQ(histories_, 0);
}

// The setting may change between the check and the load.
TEST_F(FollowerTest, LoadsWithTheSettingOfTheCheck) {
  Ask(peer_, {"CONFIG", "SET", "rdb-skip-unknown", "yes"});
  std::string snapshot = "REDIS0010\x07\x01m\x01" + std::string(1, '\0');
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "k" + std::to_string(1000 + i);
    snapshot += std::string("\0\5", 2) + name + std::string("\x01v");
  }
  snapshot += "\xff" + std::string(8, '\0');
  Start();
  Connected();
  Receive(FullSync(snapshot));
  Ask(peer_, {"CONFIG", "SET", "rdb-skip-unknown", "no"});
  Load();
  EXPECT_TRUE(IsLinked()) << log_;
}

TEST_F(FollowerTest, StopsAtAnyTime) {
  const std::string all = FullSync(kNewKey) + Multibulk({"SET", "later", "1"});
  for (const bool keeps : {false, true}) {
    Ask(peer_, {"CONFIG", "SET", "repl-diskless-load", keeps ? "swapdb" : "disabled"});
    for (size_t count = 0; count <= all.size(); ++count) {
      Start();
      Connected();
      if (count > 0) Receive(all.substr(0, count));
      follower_.Stop();
      EXPECT_FALSE(network_.IsOpen());
      EXPECT_FALSE(HasDraft());
      EXPECT_FALSE(peer_.engine().mode().is_loading());
      EXPECT_FALSE(peer_.engine().replication().link_up());
      follower_.Tick();
    }
  }
}

TEST_F(FollowerTest, ContinuesALinkThatEndedDuringTheLoad) {
  Ask(peer_, {"CONFIG", "SET", "repl-diskless-load", "swapdb"});
  Start();
  Connected();
  Receive(FullSync(kNewKey) + Multibulk({"SET", "later", "1"}));
  End();
  Load();
  EXPECT_FALSE(IsLinked());
  EXPECT_EQ(Get("new"), kOne);
  Pass(seconds(1));
  Connected();
  Receive(kIntroduced);
  EXPECT_TRUE(network_.Sent().ends_with(Multibulk({"PSYNC", kId, "101"})));
}

class FollowerWithLogTest : public FollowerTest {
 protected:
  FollowerWithLogTest() : FollowerTest(/*with_log=*/true) {}

  std::string Flushed() {
    peer_.persistence().EndRound();
    while (peer_.persistence().DurablePosition() < peer_.persistence().WrittenPosition()) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return Ask(peer_, {"DEBUG", "DIGEST"});
  }
};

// A crash leaves the data from before the master's snapshot, or the snapshot with changes in their
// order. It never leaves a mixture.
TEST_F(FollowerWithLogTest, LogHoldsOneDatasetAtAnyTime) {
  std::vector<std::string> digests = {Flushed()};
  const size_t start = peer_.files().operations().size();
  Start();
  Link();
  digests.push_back(Ask(peer_, {"DEBUG", "DIGEST"}));
  for (int i = 0; i < 3; ++i) {
    Receive(Multibulk({"SET", "change" + std::to_string(i), "1"}));
    peer_.persistence().EndRound();
    digests.push_back(Ask(peer_, {"DEBUG", "DIGEST"}));
  }
  Pass(Millis(0));  // waits for the new base
  Receive(Multibulk({"SET", "last", "1"}));
  digests.push_back(Flushed());

  const size_t end = peer_.files().operations().size();
  size_t newest = 0;
  for (size_t count = start; count <= end; ++count) {
    for (const MemoryFiles::Contents& disk : peer_.files().CrashStates(count)) {
      EnginePeer restarted(SettingsOfReplica(/*with_log=*/true));
      for (const auto& [path, bytes] : disk) restarted.files().set_contents(path, bytes);
      const absl::Status status = restarted.persistence().Start();
      ASSERT_TRUE(status.ok()) << ErrorLine(status);
      const std::string digest = Ask(restarted, {"DEBUG", "DIGEST"});
      const auto found = std::find(digests.begin(), digests.end(), digest);
      ASSERT_NE(found, digests.end()) << "after operation " << count;
      newest = std::max(newest, static_cast<size_t>(found - digests.begin()));
    }
  }
  EXPECT_EQ(newest, digests.size() - 1);
}

TEST_F(FollowerWithLogTest, LeavesTheStreamToTheMasterWhileTheLogCannotBeWritten) {
  constexpr int kMegabytes = 200;
  const std::string change = Multibulk({"SET", "large", std::string(1u << 20, 'x')});
  Ask(peer_, {"CONFIG", "SET", "auto-aof-rewrite-percentage", "0"});
  Start();
  Link();
  Pass(Millis(0));  // waits for the new base
  peer_.files().set_failure([](const MemoryFiles::Operation& operation) {
    return operation.kind == Kind::kWrite ? absl::InternalError("the disk is full")
                                          : absl::OkStatus();
  });
  int received = 0;
  for (; received < kMegabytes && network_.open->receives; ++received) {
    Receive(change);
    peer_.persistence().EndRound();
  }
  EXPECT_GT(received, 64);
  EXPECT_LT(received, 70);
  for (int i = 0; i < 100; ++i) {
    network_.Sent();
    Pass(seconds(1));
    ASSERT_TRUE(IsLinked());
    ASSERT_NE(network_.Sent().find("ACK"), std::string::npos);
  }
  EXPECT_FALSE(network_.open->receives);
  peer_.files().set_failure(nullptr);
  Receive(Multibulk({"SET", "last", "1"}));
  for (int i = 0; i < 10'000 && Get("last") != kOne; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    Pass(seconds(1));
  }
  EXPECT_EQ(Get("last"), kOne);
  EXPECT_TRUE(network_.open->receives);
}

// The data of a snapshot is in no unit of the log: its base contains it.
TEST_F(FollowerWithLogTest, DataOfASnapshotHoldsNoReader) {
  const auto release = [&](const Words& words) {
    Ask(peer_, words);
    return peer_.engine().reply_holds().ReleaseOf(*peer_.Find("a"));
  };
  Ask(peer_, {"CONFIG", "SET", "repl-diskless-load", "swapdb"});
  Start();
  Link();
  for (int i = 0; i < 3; ++i) Pass(seconds(10));
  Flushed();
  EXPECT_EQ(release({"GET", "new"}), Release::kNow);
  EXPECT_EQ(release({"DBSIZE"}), Release::kNow);
  Receive(Multibulk({"SET", "new", "2"}));
  Flushed();
  EXPECT_EQ(release({"GET", "new"}), Release::kNow);
}

TEST_F(FollowerWithLogTest, AcknowledgesWhatIsDurable) {
  Start();
  Link();
  Pass(Millis(0));  // waits for the new base
  Receive(Multibulk({"SET", "a", "1"}));
  Flushed();
  Pass(seconds(1));
  EXPECT_TRUE(network_.Sent().ends_with(Multibulk({"REPLCONF", "ACK", "127", "FACK", "127"})));
}

}  // namespace
}  // namespace zsetd::follower_test
