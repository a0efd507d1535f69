// Snapshots are saved when they are due, survive crashes and failures, and are loaded as a whole.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "protocol/rdb/rdb_file.h"
#include "server/engine/support/errors.h"
#include "tests/server/persistence/log/log_peer.h"
#include "tests/transcript/engine_peer.h"
#include "tests/transcript/transcript.h"

namespace zsetd::snapshot_service_test {
namespace {

std::string Ask(EnginePeer& peer, const std::vector<std::string>& words) {
  peer.Send("a", Multibulk(words));
  return peer.Receive("a", Millis(0));
}

std::string Digest(EnginePeer& peer) { return Ask(peer, {"DEBUG", "DIGEST"}); }

const char* const kPath = "/data/dump.rdb";

TEST(SnapshotService, EveryCrashLeavesTheOldDataOrTheNew) {
  EnginePeer peer;
  Ask(peer, {"SET", "old", "1"});
  const std::string old_digest = Digest(peer);
  ASSERT_EQ(Ask(peer, {"SAVE"}), "+OK\r\n");
  const size_t saved_once = peer.files().operations().size();
  for (int i = 0; i < 400; ++i)
    Ask(peer, {"ZADD", "z", std::to_string(i), "m" + std::to_string(i)});
  const std::string new_digest = Digest(peer);
  ASSERT_EQ(Ask(peer, {"SAVE"}), "+OK\r\n");
  const size_t all = peer.files().operations().size();
  size_t states = 0;
  for (size_t count = saved_once; count <= all; ++count) {
    for (const MemoryFiles::Contents& disk : peer.files().CrashStates(count)) {
      EnginePeer restarted;
      for (const auto& [path, bytes] : disk) restarted.files().set_contents(path, bytes);
      const absl::Status status = restarted.persistence().Start();
      ASSERT_TRUE(status.ok()) << count << " operations: " << status;
      const std::string digest = Digest(restarted);
      const bool is_whole = digest == new_digest || (digest == old_digest && count < all);
      ASSERT_TRUE(is_whole) << "after " << count << " of " << all << " operations";
      ++states;
    }
  }
  EXPECT_GT(states, 15u);
}

TEST(SnapshotService, AFailureOfAnyOperationLeavesTheOldSnapshotAndNoDraft) {
  using Kind = MemoryFiles::Operation::Kind;
  for (const Kind kind : {Kind::kCreate, Kind::kWrite, Kind::kSync, Kind::kRename}) {
    EnginePeer peer;
    Ask(peer, {"SET", "old", "1"});
    ASSERT_EQ(Ask(peer, {"SAVE"}), "+OK\r\n");
    const MemoryFiles::Contents before = peer.files().contents();
    Ask(peer, {"SET", "new", "1"});
    peer.files().set_failure([kind](const MemoryFiles::Operation& operation) {
      return operation.kind == kind ? absl::InternalError("No space left on device")
                                    : absl::OkStatus();
    });
    EXPECT_EQ(Ask(peer, {"SAVE"}), "-ERR\r\n");
    EXPECT_EQ(peer.files().contents(), before);
    EXPECT_EQ(Ask(peer, {"BGSAVE"}), "+Background saving started\r\n");
    peer.Pass(Millis(100));
    EXPECT_EQ(peer.files().contents(), before);
    EXPECT_NE(Ask(peer, {"INFO", "persistence"}).find("rdb_last_bgsave_status:err"),
              std::string::npos);
    peer.files().set_failure(nullptr);
    EXPECT_EQ(Ask(peer, {"SAVE"}), "+OK\r\n");
    EXPECT_NE(peer.files().contents(), before);
  }
}

TEST(SnapshotService, WritesAreRefusedWhileSnapshotsFail) {
  EnginePeer peer;
  Ask(peer, {"CONFIG", "SET", "save", "3600 1"});
  peer.files().set_failure([](const MemoryFiles::Operation& operation) {
    return operation.kind == MemoryFiles::Operation::Kind::kSync ? absl::InternalError("I/O error")
                                                                 : absl::OkStatus();
  });
  Ask(peer, {"BGSAVE"});
  peer.Pass(Millis(100));
  EXPECT_EQ(Ask(peer, {"SET", "k", "v"}).substr(0, 9), "-MISCONF ");
  EXPECT_EQ(Ask(peer, {"PING"}).substr(0, 9), "-MISCONF ");
  EXPECT_EQ(Ask(peer, {"GET", "k"}), "$-1\r\n");
  Ask(peer, {"MULTI"});
  EXPECT_EQ(Ask(peer, {"GET", "k"}), "+QUEUED\r\n");
  EXPECT_EQ(Ask(peer, {"EXEC"}), "*1\r\n$-1\r\n");
  EXPECT_EQ(Ask(peer, {"CONFIG", "SET", "stop-writes-on-bgsave-error", "no"}), "+OK\r\n");
  EXPECT_EQ(Ask(peer, {"SET", "k", "v"}), "+OK\r\n");
  EXPECT_EQ(Ask(peer, {"CONFIG", "SET", "stop-writes-on-bgsave-error", "yes"}), "+OK\r\n");
  EXPECT_EQ(Ask(peer, {"SET", "k", "v"}).substr(0, 9), "-MISCONF ");
  peer.files().set_failure(nullptr);
  peer.Pass(Millis(6000));  // it is not retried more often after a failure
  EXPECT_EQ(Ask(peer, {"BGSAVE"}).substr(0, 1), "+");
  peer.Pass(Millis(100));
  EXPECT_EQ(Ask(peer, {"SET", "k", "v"}), "+OK\r\n");
}

TEST(SnapshotService, SavesAtASavePointAfterTheClockWasSetBack) {
  EnginePeer peer;
  Ask(peer, {"CONFIG", "SET", "save", "100 1"});
  Ask(peer, {"SET", "a", "1"});
  peer.engine().executor().AdvanceTo(peer.engine().store().now() - std::chrono::hours(1));
  peer.Pass(Millis(100'000));
  EXPECT_TRUE(peer.files().contents().empty());
  peer.Pass(Millis(1));
  EXPECT_TRUE(peer.files().contents().contains(kPath));
}

TEST(SnapshotService, SavesWhenASavePointIsReached) {
  EnginePeer peer;
  Ask(peer, {"CONFIG", "SET", "save", "100 3"});
  Ask(peer, {"SET", "a", "1"});
  Ask(peer, {"SET", "b", "1"});
  peer.Pass(Millis(101'000));
  EXPECT_TRUE(peer.files().contents().empty());
  Ask(peer, {"SET", "c", "1"});
  peer.Pass(Millis(100));
  EXPECT_TRUE(peer.files().contents().contains(kPath));
  EXPECT_NE(Ask(peer, {"INFO", "persistence"}).find("rdb_changes_since_last_save:0"),
            std::string::npos);
}

// `follows` runs in the round of a FLUSHALL, before the reply to it is sent.
void ExpectFlushIsOnDisk(const std::function<void(EnginePeer&)>& follows) {
  EnginePeer peer;
  Ask(peer, {"CONFIG", "SET", "save", "100 3"});
  Ask(peer, {"SET", "a", "1"});
  Ask(peer, {"SAVE"});
  Ask(peer, {"FLUSHALL"});
  follows(peer);
  EnginePeer restarted;
  restarted.files().set_contents(kPath, peer.files().contents().at(kPath));
  ASSERT_TRUE(restarted.persistence().Start().ok());
  EXPECT_EQ(Ask(restarted, {"DBSIZE"}), ":0\r\n");
}

TEST(SnapshotService, FlushAllIsOnDiskBeforeItsReplyIfThereAreSavePoints) {
  ExpectFlushIsOnDisk([](EnginePeer& peer) { peer.persistence().EndRound(); });
}

TEST(SnapshotService, FlushAllIsOnDiskWhateverElseItsRoundRuns) {
  ExpectFlushIsOnDisk([](EnginePeer& peer) {
    EXPECT_TRUE(peer.persistence().SaveBeforeExit(/*must_save=*/false, /*may_not=*/true).ok());
  });
  ExpectFlushIsOnDisk([](EnginePeer& peer) {
    EXPECT_EQ(Ask(peer, {"DEBUG", "RELOAD", "NOSAVE"}), "+OK\r\n");
    EXPECT_EQ(Ask(peer, {"DBSIZE"}), ":0\r\n");
  });
  ExpectFlushIsOnDisk([](EnginePeer& peer) {
    EXPECT_EQ(Ask(peer, {"BGSAVE"}), "+Background saving started\r\n");
    peer.persistence().EndRound();
  });
}

// DEBUG RELOAD saves the file at the end of the transaction.
TEST(SnapshotService, AFailedSnapshotOfAnotherCommandLeavesTheOneOfFlushAllDue) {
  ExpectFlushIsOnDisk([](EnginePeer& peer) {
    Ask(peer, {"SET", "a", "1"});
    Ask(peer, {"SAVE"});
    std::atomic<bool> fails = true;
    peer.files().set_failure([&fails](const MemoryFiles::Operation& operation) {
      const bool is_snapshot =
          operation.kind == MemoryFiles::Operation::Kind::kRename && operation.to == kPath;
      return is_snapshot && fails.exchange(false) ? absl::InternalError("I/O error")
                                                  : absl::OkStatus();
    });
    Ask(peer, {"MULTI"});
    Ask(peer, {"FLUSHALL"});
    Ask(peer, {"DEBUG", "RELOAD"});
    EXPECT_EQ(Ask(peer, {"EXEC"}), "*2\r\n+OK\r\n+OK\r\n");
    EXPECT_FALSE(fails);
    peer.files().set_failure(nullptr);
  });
}

TEST(SnapshotService, ADirectoryBelongsToOneServer) {
  EnginePeer peer;
  const auto other = peer.files().Lock("/data");
  ASSERT_TRUE(other.ok() && *other != nullptr);
  EXPECT_EQ(Ask(peer, {"SAVE"}), "-ERR\r\n");
  EXPECT_TRUE(peer.files().contents().empty());
}

TEST(SnapshotService, ReloadReplacesABackgroundSnapshot) {
  EnginePeer peer;
  for (int i = 0; i < 500; ++i) Ask(peer, {"SET", "k" + std::to_string(i), "v"});
  EXPECT_EQ(Ask(peer, {"BGSAVE"}), "+Background saving started\r\n");
  Ask(peer, {"SET", "k1", "later"});
  EXPECT_EQ(Ask(peer, {"DEBUG", "RELOAD"}), "+OK\r\n");
  EXPECT_FALSE(peer.persistence().IsSaving());
  EXPECT_EQ(peer.files().contents().size(), 1u);  // no draft
  EXPECT_EQ(Ask(peer, {"GET", "k1"}), "$5\r\nlater\r\n");
  EXPECT_EQ(Ask(peer, {"DBSIZE"}), ":500\r\n");
}

const char* const kLibrary =
    "#!lua name=lib\n"
    "redis.register_function('f', function(keys) return redis.call('incr', keys[1]) end)";

TEST(SnapshotService, KeepsLibrariesOfFunctions) {
  EnginePeer peer;
  Ask(peer, {"CONFIG", "SET", "save", "100 1"});
  EXPECT_EQ(Ask(peer, {"FUNCTION", "LOAD", kLibrary}), "$3\r\nlib\r\n");
  EXPECT_NE(Ask(peer, {"INFO", "persistence"}).find("rdb_changes_since_last_save:1\r\n"),
            std::string::npos);
  EXPECT_EQ(Ask(peer, {"FCALL", "f", "1", "k"}), ":1\r\n");
  EXPECT_EQ(Ask(peer, {"BGSAVE"}), "+Background saving started\r\n");
  EXPECT_EQ(Ask(peer, {"FUNCTION", "FLUSH"}), "+OK\r\n");  // after the instant of the snapshot
  peer.Pass(Millis(100));
  const std::string file = peer.files().contents().at(kPath);

  EnginePeer restarted;
  restarted.files().set_contents(kPath, file);
  ASSERT_TRUE(restarted.persistence().Start().ok());
  EXPECT_EQ(Ask(restarted, {"FCALL", "f", "1", "k"}), ":2\r\n");
  EXPECT_EQ(Ask(restarted, {"DEBUG", "RELOAD"}), "+OK\r\n");
  EXPECT_EQ(Ask(restarted, {"FCALL", "f", "1", "k"}), ":3\r\n");
  EXPECT_EQ(Ask(restarted, {"SAVE"}), "+OK\r\n");
  EXPECT_EQ(Ask(restarted, {"FUNCTION", "FLUSH"}), "+OK\r\n");
  EXPECT_EQ(Ask(restarted, {"DEBUG", "RELOAD", "NOSAVE"}), "+OK\r\n");
  EXPECT_EQ(Ask(restarted, {"FCALL", "f", "1", "k"}), ":4\r\n");

  Settings settings;
  settings.scripting = false;
  settings.dir = "/data";
  settings.save.points.clear();
  EnginePeer without(settings);
  without.files().set_contents(kPath, file);
  ASSERT_TRUE(without.persistence().Start().ok());
  EXPECT_EQ(Ask(without, {"SAVE"}), "+OK\r\n");
  EnginePeer again;
  again.files().set_contents(kPath, without.files().contents().at(kPath));
  ASSERT_TRUE(again.persistence().Start().ok());
  EXPECT_EQ(Ask(again, {"FCALL", "f", "1", "k"}), ":2\r\n");
}

TEST(SnapshotService, ALibraryThatCannotBeRestoredRefusesTheWholeFile) {
  std::string bytes;
  RdbFileWriter writer(bytes, /*compresses=*/false);
  writer.Magic();
  writer.Functions("#!lua name=broken\nthis is no Lua");
  writer.Database(0);
  writer.Key(RdbType::kString, "k").String("v");
  writer.End();
  bytes += std::string(8, '\0');  // an absent checksum
  EnginePeer peer;
  Ask(peer, {"SET", "old", "1"});
  Ask(peer, {"FUNCTION", "LOAD", kLibrary});
  peer.files().set_contents(kPath, bytes);
  EXPECT_EQ(Ask(peer, {"DEBUG", "RELOAD", "NOSAVE"}),
            "-ERR Error trying to load the RDB dump, check server logs\r\n");
  EXPECT_EQ(Ask(peer, {"GET", "old"}), "$1\r\n1\r\n");
  EXPECT_EQ(Ask(peer, {"FCALL", "f", "1", "n"}), ":1\r\n");
  const absl::Status status = peer.persistence().Start();
  EXPECT_NE(status.message().find("cannot load its libraries of functions: "), std::string::npos)
      << status;
}

// Scripts wait for this field before they send BGSAVE.
TEST(SnapshotService, InfoShowsASnapshotForReplicasWhileItPreventsBgsave) {
  EnginePeer peer;
  for (int i = 0; i < 100; ++i) Ask(peer, {"SET", "k" + std::to_string(i), "v"});
  const auto info_has = [&peer](const std::string& line) {
    return Ask(peer, {"INFO", "persistence"}).find(line) != std::string::npos;
  };
  EXPECT_TRUE(info_has("rdb_bgsave_in_progress:0\r\n"));
  PersistenceService& persistence = peer.persistence();
  persistence.StartTransfer(std::make_unique<log_test::EmptySink>(),
                            persistence.dataset().Contents(), [] { return true; });
  EXPECT_TRUE(info_has("rdb_bgsave_in_progress:1\r\n"));
  EXPECT_TRUE(info_has("current_save_keys_total:100\r\n"));
  EXPECT_TRUE(info_has("rdb_current_bgsave_time_sec:0\r\n"));
  EXPECT_EQ(Ask(peer, {"BGSAVE"}), "-ERR Background save already in progress\r\n");
  persistence.AbandonTransfer();
  EXPECT_TRUE(info_has("rdb_bgsave_in_progress:0\r\n"));
  EXPECT_TRUE(info_has("rdb_current_bgsave_time_sec:-1\r\n"));
}

TEST(SnapshotService, ScriptsMayNotWriteWhileSnapshotsFail) {
  EnginePeer peer;
  Ask(peer, {"CONFIG", "SET", "save", "3600 1"});
  peer.files().set_failure([](const MemoryFiles::Operation& operation) {
    return operation.kind == MemoryFiles::Operation::Kind::kSync ? absl::InternalError("I/O error")
                                                                 : absl::OkStatus();
  });
  Ask(peer, {"BGSAVE"});
  peer.Pass(Millis(100));
  EXPECT_EQ(Ask(peer, {"EVAL", "return redis.call('set', 'k', 'v')", "0"}).substr(0, 9),
            "-MISCONF ");
  EXPECT_EQ(Ask(peer, {"EVAL", "return redis.call('get', 'k')", "0"}), "$-1\r\n");
  EXPECT_EQ(Ask(peer, {"EVAL", "#!lua\nreturn 1", "0"}),
            "-" + std::string(kSnapshotsFail) + "\r\n");
  EXPECT_EQ(Ask(peer, {"EVAL", "#!lua flags=no-writes\nreturn 1", "0"}), ":1\r\n");
  Ask(peer, {"MULTI"});
  Ask(peer, {"EVALSHA", "121982a2098f0a549345ef911e130b9242ec5d83", "0"});
  peer.Send("b", Multibulk({"SCRIPT", "LOAD", "#!lua\nreturn 9"}));
  EXPECT_EQ(
      Ask(peer, {"EXEC"}),
      "*1\r\n-MISCONF Redis is configured to save RDB snapshots, but it's currently unable to "
      "persist to disk. Writable scripts are blocked. Use 'no-writes' flag for read only "
      "scripts.\r\n")
      << "the script was not known when the request was queued";
}

TEST(SnapshotService, NothingIsSavedAtTheEndUnlessTheShutdownSaved) {
  EnginePeer peer;
  Ask(peer, {"CONFIG", "SET", "save", "3600 1"});
  Ask(peer, {"SET", "k", "v"});
  peer.files().set_failure(
      [](const MemoryFiles::Operation&) { return absl::InternalError("I/O error"); });
  EXPECT_EQ(Ask(peer, {"SHUTDOWN"}), "-ERR Errors trying to SHUTDOWN. Check logs.\r\n");
  peer.files().set_failure(nullptr);
  peer.persistence().SaveTheRest();  // after a refusal the server may end without a save
  EXPECT_TRUE(peer.files().contents().empty());
}

// The stream to replicas. It only advances the offset.
class CountedStream : public Journal {
 public:
  explicit CountedStream(ReplicationState& state) : state_(state) {}
  uint64_t Append(OutputBuffer& unit) override {
    state_.Advance(unit.size());
    return static_cast<uint64_t>(state_.offset());
  }

 private:
  ReplicationState& state_;
};

TEST(SnapshotService, ExpiryAfterTheFinalSaveKeepsItsPositionInTheHistory) {
  EnginePeer peer;
  CountedStream stream(peer.engine().replication());
  peer.engine().effects().set_stream(&stream);
  Ask(peer, {"CONFIG", "SET", "save", "3600 1"});
  Ask(peer, {"SET", "k", "v", "PX", "100"});
  ASSERT_TRUE(peer.persistence().SaveBeforeExit(/*must_save=*/false, /*may_not=*/false).ok());
  const int64_t saved_offset = peer.engine().replication().offset();
  peer.Pass(Millis(200));
  ASSERT_GT(peer.engine().replication().offset(), saved_offset) << "replicas have no DEL";
  peer.persistence().SaveTheRest();
  EnginePeer restarted;
  restarted.files().set_contents(kPath, peer.files().contents().at(kPath));
  ASSERT_TRUE(restarted.persistence().Start().ok());
  ASSERT_TRUE(restarted.persistence().loaded_position().has_value());
  EXPECT_EQ(restarted.persistence().loaded_position()->offset,
            peer.engine().replication().offset());
  peer.engine().effects().set_stream(nullptr);
}

TEST(SnapshotService, ReloadKeepsTheDataIfTheFileIsDamaged) {
  EnginePeer peer;
  Ask(peer, {"SET", "a", "1"});
  Ask(peer, {"SAVE"});
  std::string bytes = peer.files().contents().at(kPath);
  bytes[bytes.size() / 2] ^= 1;
  peer.files().set_contents(kPath, bytes);
  EXPECT_EQ(Ask(peer, {"DEBUG", "RELOAD", "NOSAVE"}),
            "-ERR Error trying to load the RDB dump, check server logs\r\n");
  EXPECT_EQ(Ask(peer, {"GET", "a"}), "$1\r\n1\r\n");
  Ask(peer, {"SET", "b", "1"});
  EXPECT_EQ(Ask(peer, {"DEBUG", "RELOAD", "NOFLUSH"}).substr(0, 4), "-ERR");  // the key is in both
  EXPECT_EQ(Ask(peer, {"DEBUG", "RELOAD", "NOFLUSH", "MERGE"}), "+OK\r\n");
  EXPECT_EQ(Ask(peer, {"DBSIZE"}), ":2\r\n");
}

}  // namespace
}  // namespace zsetd::snapshot_service_test
