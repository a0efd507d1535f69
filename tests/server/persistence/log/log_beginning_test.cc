// The log of a running server begins as soon as it can, and no shutdown ends before it is complete.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "tests/server/persistence/log/log_peer.h"
#include "tests/transcript/engine_peer.h"

namespace zsetd::log_test {
namespace {

constexpr const char* kNonsense = "nonsense\n";

Settings WithoutLog() {
  Settings settings = WithLog();
  settings.appendonly = false;
  return settings;
}

void AddKeys(EnginePeer& peer) {
  for (int i = 0; i < 3000; ++i) Ask(peer, {"SET", "k" + std::to_string(i), "v"});
}

bool InfoHas(EnginePeer& peer, const std::string& line) {
  return Ask(peer, {"INFO", "persistence"}).find(line + "\r\n") != std::string::npos;
}

absl::Status Shutdown(EnginePeer& peer) {
  return peer.persistence().SaveBeforeExit(/*must_save=*/false, /*may_not=*/false);
}

// Replaces the data by a master's empty snapshot, which ends the log.
void ReplaceData(EnginePeer& peer) {
  PersistenceService& persistence = peer.persistence();
  auto received = persistence.ReceiveSnapshot();
  ASSERT_TRUE(received.ok());
  ASSERT_TRUE((*received)->Write("REDIS0010\xff" + std::string(8, '\0')).ok());
  ASSERT_TRUE((*received)->Finish().ok());
  persistence.StartReplacing(*std::move(received), {}, [](const absl::Status& status) {
    EXPECT_TRUE(status.ok()) << status;
  });
  while (persistence.IsReplacing()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    persistence.Tick(Micros(1000));
  }
}

void StartTransfer(EnginePeer& peer, const std::atomic<bool>& is_full) {
  peer.persistence().StartTransfer(std::make_unique<EmptySink>(),
                                   peer.persistence().dataset().Contents(),
                                   [&is_full] { return is_full.load(); });
}

TEST(LogBeginning, FollowsEachFullSynchronizationImmediately) {
  EnginePeer peer(WithLog());
  ASSERT_TRUE(peer.persistence().Start().ok());
  for (int i = 0; i < 3; ++i) {
    ReplaceData(peer);
    EXPECT_TRUE(InfoHas(peer, "aof_rewrite_in_progress:1")) << i;
    peer.Pass(Millis(1));
    EXPECT_TRUE(peer.persistence().IsLogComplete()) << i;
  }
  Ask(peer, {"SET", "acknowledged", "1"});
  EXPECT_TRUE(Shutdown(peer).ok());
  EXPECT_EQ(DigestAfterStart(peer.files().contents(), WithLog()), Digest(peer));
}

TEST(LogBeginning, AShutdownBeginsALogThatWaitsForASnapshot) {
  for (const bool is_for_replica : {false, true}) {
    SCOPED_TRACE(is_for_replica ? "for a replica" : "BGSAVE");
    EnginePeer peer(WithoutLog());
    ASSERT_TRUE(peer.persistence().Start().ok());
    AddKeys(peer);
    const std::atomic<bool> is_full = true;
    if (is_for_replica) {
      StartTransfer(peer, is_full);
    } else {
      ASSERT_EQ(Ask(peer, {"BGSAVE"}), "+Background saving started\r\n");
    }
    EXPECT_EQ(Ask(peer, {"CONFIG", "SET", "appendonly", "yes"}), "+OK\r\n");
    EXPECT_TRUE(InfoHas(peer, "aof_rewrite_scheduled:1"));
    Ask(peer, {"SET", "acknowledged", "1"});
    EXPECT_TRUE(Shutdown(peer).ok());
    EXPECT_EQ(DigestAfterStart(peer.files().contents(), WithLog()), Digest(peer));
  }
}

TEST(LogBeginning, AShutdownWithoutSavingBeginsNoLog) {
  EnginePeer peer(WithoutLog());
  ASSERT_TRUE(peer.persistence().Start().ok());
  AddKeys(peer);
  const std::atomic<bool> is_full = true;
  StartTransfer(peer, is_full);
  Ask(peer, {"CONFIG", "SET", "appendonly", "yes"});
  EXPECT_TRUE(peer.persistence().SaveBeforeExit(/*must_save=*/false, /*may_not=*/true).ok());
  EXPECT_FALSE(peer.files().contents().contains(kManifest));
}

// Writes would be in no file.
TEST(LogBeginning, WritesAndShutdownsAreRefusedWhileALogCannotBegin) {
  EnginePeer peer(WithLog());
  ASSERT_TRUE(peer.persistence().Start().ok());
  const std::string manifest = peer.files().contents().at(kManifest);
  peer.files().set_contents(kManifest, kNonsense);
  ReplaceData(peer);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(Ask(peer, {"SET", "a", "1"})
                    .starts_with("-MISCONF Errors writing to the AOF file: Cannot read"));
    EXPECT_TRUE(InfoHas(peer, "aof_enabled:1") && InfoHas(peer, "aof_last_write_status:err"));
    EXPECT_FALSE(Shutdown(peer).ok());
    peer.Pass(Millis(6000));
  }
  EXPECT_EQ(peer.files().contents().at(kManifest), kNonsense);
  EXPECT_TRUE(peer.persistence().SaveBeforeExit(/*must_save=*/false, /*may_not=*/true).ok());

  peer.files().set_contents(kManifest, manifest);
  EXPECT_TRUE(Ask(peer, {"SET", "a", "1"}).starts_with("-MISCONF"));
  peer.Pass(Millis(5000));
  EXPECT_TRUE(InfoHas(peer, "aof_last_write_status:ok"));
  EXPECT_EQ(Ask(peer, {"SET", "a", "1"}), "+OK\r\n");
  EXPECT_TRUE(Shutdown(peer).ok());
  EXPECT_EQ(DigestAfterStart(peer.files().contents(), WithLog()), Digest(peer));
}

TEST(LogBeginning, IsTriedAgainAfterTheClockWasSetBack) {
  EnginePeer peer(WithLog());
  ASSERT_TRUE(peer.persistence().Start().ok());
  const std::string manifest = peer.files().contents().at(kManifest);
  peer.files().set_contents(kManifest, kNonsense);
  ReplaceData(peer);
  peer.files().set_contents(kManifest, manifest);
  peer.engine().executor().AdvanceTo(peer.engine().store().now() - std::chrono::hours(1));
  EXPECT_TRUE(Ask(peer, {"SET", "a", "1"}).starts_with("-MISCONF"));
  peer.Pass(Millis(5000));
  EXPECT_EQ(Ask(peer, {"SET", "a", "1"}), "+OK\r\n");
}

TEST(LogBeginning, SwitchingTheLogOffEndsTheRefusal) {
  EnginePeer peer(WithLog());
  ASSERT_TRUE(peer.persistence().Start().ok());
  peer.files().set_contents(kManifest, kNonsense);
  ReplaceData(peer);
  EXPECT_TRUE(Ask(peer, {"SET", "a", "1"}).starts_with("-MISCONF"));
  EXPECT_EQ(Ask(peer, {"CONFIG", "SET", "appendonly", "no"}), "+OK\r\n");
  EXPECT_EQ(Ask(peer, {"SET", "a", "1"}), "+OK\r\n");
  EXPECT_TRUE(InfoHas(peer, "aof_last_write_status:ok"));
  EXPECT_TRUE(Shutdown(peer).ok());
  // A log that could not be switched on is off, so it refuses nothing.
  EXPECT_TRUE(Ask(peer, {"CONFIG", "SET", "appendonly", "yes"}).starts_with("-ERR CONFIG SET"));
  EXPECT_EQ(Ask(peer, {"SET", "a", "1"}), "+OK\r\n");
}

TEST(LogBeginning, AfterATransactionThatCannotBeginItWritesAreRefused) {
  EnginePeer peer(WithoutLog());
  ASSERT_TRUE(peer.persistence().Start().ok());
  Ask(peer, {"MULTI"});
  Ask(peer, {"CONFIG", "SET", "appendonly", "yes"});
  peer.files().set_contents(kManifest, kNonsense);
  Ask(peer, {"EXEC"});
  EXPECT_TRUE(Ask(peer, {"SET", "a", "1"}).starts_with("-MISCONF"));
  EXPECT_FALSE(Shutdown(peer).ok());
}

// SAVE cancels the first base, which starts again without a pause.
TEST(LogBeginning, ASnapshotDoesNotPostponeTheFirstBase) {
  EnginePeer peer(WithoutLog());
  ASSERT_TRUE(peer.persistence().Start().ok());
  AddKeys(peer);
  EXPECT_EQ(Ask(peer, {"CONFIG", "SET", "appendonly", "yes"}), "+OK\r\n");
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(Ask(peer, {"SAVE"}), "+OK\r\n");
    const std::string restarted = "aof_rewrites:" + std::to_string(i + 2);
    for (int look = 0; look < 2000 && !InfoHas(peer, restarted); ++look) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      peer.persistence().Tick(Micros(1000));
    }
    ASSERT_TRUE(InfoHas(peer, restarted));
    EXPECT_TRUE(InfoHas(peer, "aof_last_bgrewrite_status:ok"));
  }
  peer.Pass(Millis(1));
  EXPECT_TRUE(peer.persistence().IsLogComplete());
  EXPECT_FALSE(InfoHas(peer, "aof_rewrite_scheduled:1")) << "one base is enough";
  Ask(peer, {"SET", "acknowledged", "1"});
  Flush(peer);
  EXPECT_EQ(DigestAfterStart(peer.files().contents(), WithLog()), Digest(peer));
}

TEST(LogBeginning, AShutdownStartsACancelledBaseAgain) {
  EnginePeer peer(WithoutLog());
  ASSERT_TRUE(peer.persistence().Start().ok());
  AddKeys(peer);
  EXPECT_EQ(Ask(peer, {"CONFIG", "SET", "appendonly", "yes"}), "+OK\r\n");
  EXPECT_EQ(Ask(peer, {"SAVE"}), "+OK\r\n");
  Ask(peer, {"SET", "acknowledged", "1"});
  EXPECT_TRUE(Shutdown(peer).ok());
  EXPECT_EQ(DigestAfterStart(peer.files().contents(), WithLog()), Digest(peer));
}

TEST(LogBeginning, AShutdownIsRefusedIfTheFirstBaseCannotBeWritten) {
  EnginePeer peer(WithoutLog());
  ASSERT_TRUE(peer.persistence().Start().ok());
  AddKeys(peer);
  peer.files().set_failure([](const MemoryFiles::Operation& operation) {
    const bool is_base = operation.path.find("base") != std::string::npos ||
                         operation.to.find("base") != std::string::npos;
    return is_base ? absl::InternalError("No space left on device") : absl::OkStatus();
  });
  EXPECT_EQ(Ask(peer, {"CONFIG", "SET", "appendonly", "yes"}), "+OK\r\n");
  EXPECT_FALSE(Shutdown(peer).ok());
  peer.files().set_failure(nullptr);
  EXPECT_TRUE(Shutdown(peer).ok());
  EXPECT_EQ(DigestAfterStart(peer.files().contents(), WithLog()), Digest(peer));
}

TEST(LogBeginning, WaitaofEndsWhenTheLogIsSwitchedOff) {
  EnginePeer peer(WithLog(AppendFsync::kNo));
  ASSERT_TRUE(peer.persistence().Start().ok());
  peer.Send("waiter", Multibulk({"SET", "a", "1"}));
  peer.Send("waiter", Multibulk({"WAITAOF", "1", "0", "0"}));
  peer.persistence().EndRound();
  EXPECT_EQ(peer.Receive("waiter", Millis(0)), "+OK\r\n");
  EXPECT_EQ(Ask(peer, {"CONFIG", "SET", "appendonly", "no"}), "+OK\r\n");
  peer.engine().executor().EndRound();
  EXPECT_EQ(peer.Receive("waiter", Millis(0)),
            "-ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.\r\n");
  EXPECT_NE(Ask(peer, {"INFO", "errorstats"}).find("errorstat_ERR:count=1\r\n"), std::string::npos);
  EXPECT_NE(Ask(peer, {"INFO", "commandstats"}).find("cmdstat_waitaof:calls=1,"),
            std::string::npos);
}

TEST(LogBeginning, WaitaofOfAReplicaChecksItsArgumentsFirst) {
  EnginePeer peer(WithoutLog());
  peer.engine().replication().set_is_replica(true);
  EXPECT_EQ(Ask(peer, {"WAITAOF", "2", "0", "0"}),
            "-ERR value is out of range, value must between 0 and 1\r\n");
  EXPECT_TRUE(Ask(peer, {"WAITAOF", "1", "0", "0"})
                  .starts_with("-ERR WAITAOF cannot be used with replica instances."));
}

}  // namespace
}  // namespace zsetd::log_test
