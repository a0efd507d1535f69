// The append-only log restores its data, whatever happened to the server and its disk.
#include "server/persistence/log/append_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "server/persistence/log/log_thread.h"
#include "tests/server/persistence/log/log_peer.h"
#include "tests/transcript/engine_peer.h"
#include "tests/transcript/transcript.h"

namespace zsetd::log_test {
namespace {

TEST(AppendLog, RestoresAllWrites) {
  EnginePeer peer(WithLog());
  ASSERT_TRUE(peer.persistence().Start().ok());
  for (const Words& words : std::vector<Words>{{"SET", "s", "1"},
                                               {"ZADD", "z", "1", "a", "2", "b"},
                                               {"SELECT", "3"},
                                               {"RPUSH", "l", "x", "y"},
                                               {"EXPIRE", "l", "100"},
                                               {"MULTI"},
                                               {"INCR", "n"},
                                               {"INCR", "n"},
                                               {"EXEC"},
                                               {"FUNCTION", "LOAD",
                                                "#!lua name=lib\n"
                                                "redis.register_function('f', "
                                                "function() return 1 end)"}}) {
    Ask(peer, words);
  }
  const std::string digest = Digest(peer);
  Flush(peer);
  EnginePeer restarted(WithLog());
  Place(peer.files().contents(), restarted);
  const absl::Status status = restarted.persistence().Start();
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(Digest(restarted), digest);
  EXPECT_EQ(Ask(restarted, {"FCALL", "f", "0"}), ":1\r\n");
  EXPECT_EQ(Ask(restarted, {"SELECT", "3"}), "+OK\r\n");
  EXPECT_EQ(Ask(restarted, {"TTL", "l"}), ":100\r\n");

  // The server continues in the same file.
  Ask(restarted, {"SET", "more", "1"});
  Flush(restarted);
  EXPECT_EQ(DigestAfterStart(restarted.files().contents(), WithLog()), Digest(restarted));
}

TEST(AppendLog, EveryCrashLeavesAnEarlierStateWithAllAcknowledgedWrites) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  EnginePeer peer(WithLog());
  ASSERT_TRUE(peer.persistence().Start().ok());
  std::vector<std::string> digests = {Digest(peer)};                    // after each request
  std::vector<size_t> operations = {peer.files().operations().size()};  // when it was durable
  const size_t first = operations.front();
  for (int i = 0; i < 60; ++i) {
    const std::string key = "k" + std::to_string(random() % 7);
    const std::string value = std::to_string(random() % 1000);
    switch (random() % 8) {
      case 0:
        Ask(peer, {"SET", key, value});
        break;
      case 1:
        Ask(peer, {"DEL", key});
        break;
      case 2:
        Ask(peer, {"MULTI"});
        Ask(peer, {"INCR", "x"});
        Ask(peer, {"INCR", "y"});
        Ask(peer, {"EXEC"});
        break;
      case 3:
        Ask(peer, {"BGREWRITEAOF"});
        break;
      case 4:
        peer.Pass(Millis(10));
        break;
      default:
        Ask(peer, {"ZADD", "z" + key, value, "m" + value});
    }
    Flush(peer);
    digests.push_back(Digest(peer));
    operations.push_back(peer.files().operations().size());
  }
  size_t states = 0;
  for (size_t count = first; count <= operations.back(); ++count) {
    const auto last =
        std::upper_bound(operations.begin(), operations.end(), count) - operations.begin() - 1;
    for (const MemoryFiles::Contents& disk : peer.files().CrashStates(count)) {
      const Started started = StartOn(disk, WithLog());
      const auto found = std::find(digests.begin() + last, digests.end(), started.digest);
      ASSERT_NE(found, digests.end()) << "after " << count << " operations: " << started.digest;
      ASSERT_EQ(ReplacedFiles(started.disk), Words()) << "after " << count << " operations";
      ++states;
    }
  }
  EXPECT_GT(states, 200u);
}

TEST(AppendLog, ARewriteKeepsWritesMadeDuringIt) {
  EnginePeer peer(WithLog(AppendFsync::kEverySec));
  ASSERT_TRUE(peer.persistence().Start().ok());
  for (int i = 0; i < 3000; ++i) Ask(peer, {"SET", "k" + std::to_string(i), "v"});
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(Ask(peer, {"BGREWRITEAOF"}), "+Background append only file rewriting started\r\n");
    EXPECT_EQ(Ask(peer, {"BGREWRITEAOF"}),
              "-ERR Background append only file rewriting already in progress\r\n");
    for (int i = 0; i < 3000; i += 7) Ask(peer, {"APPEND", "k" + std::to_string(i), "w"});
    peer.Pass(Millis(100));
    Ask(peer, {"SET", "after", std::to_string(round)});
  }
  Flush(peer);
  const MemoryFiles::Contents disk = peer.files().contents();
  EXPECT_EQ(disk.size(), 3u) << "base, incremental file and manifest";
  EXPECT_TRUE(disk.contains("/data/appendonlydir/appendonly.aof.4.base.rdb"));
  EXPECT_EQ(DigestAfterStart(disk, WithLog()), Digest(peer));
}

TEST(AppendLog, ATruncatedEndIsRemoved) {
  EnginePeer peer(WithLog());
  ASSERT_TRUE(peer.persistence().Start().ok());
  Ask(peer, {"SET", "a", "1"});
  Flush(peer);
  const std::string digest = Digest(peer);
  const size_t whole = peer.files().contents().at(kFirstFile).size();
  for (const Words& words :
       std::vector<Words>{{"MULTI"}, {"SET", "b", "1"}, {"SET", "c", "2"}, {"EXEC"}}) {
    Ask(peer, words);
  }
  Flush(peer);
  const MemoryFiles::Contents disk = peer.files().contents();
  for (size_t size = whole; size < disk.at(kFirstFile).size(); ++size) {
    MemoryFiles::Contents cut = disk;
    cut.at(kFirstFile).resize(size);
    EnginePeer restarted(WithLog());
    Place(cut, restarted);
    ASSERT_TRUE(restarted.persistence().Start().ok()) << size;
    ASSERT_EQ(Digest(restarted), digest) << size;
    ASSERT_EQ(restarted.files().contents().at(kFirstFile).size(), whole);

    Settings strict = WithLog();
    strict.aof_load_truncated = false;
    if (size > whole) {
      ASSERT_NE(DigestAfterStart(cut, strict)
                    .find("The append-only log is cut off at byte " + std::to_string(whole)),
                std::string::npos);
    }
  }
}

TEST(AppendLog, ADamagedEndIsRemovedIfTheSettingsAllowIt) {
  EnginePeer peer(WithLog());
  ASSERT_TRUE(peer.persistence().Start().ok());
  Ask(peer, {"SET", "a", "1"});
  Flush(peer);
  MemoryFiles::Contents disk = peer.files().contents();
  const std::string whole = disk.at(kFirstFile);
  disk.at(kFirstFile) += std::string(60'000, '\0');
  Settings settings = WithLog();
  settings.aof_load_corrupt_tail_max_size = 59'999;
  EXPECT_NE(StartOn(disk, settings).digest, Digest(peer));
  settings.aof_load_corrupt_tail_max_size = 60'000;
  const Started started = StartOn(disk, settings);
  EXPECT_EQ(started.digest, Digest(peer));
  EXPECT_EQ(started.disk.at(kFirstFile), whole);
}

TEST(AppendLog, AnnotationsMayHaveAnyText) {
  EnginePeer peer(WithLog());
  ASSERT_TRUE(peer.persistence().Start().ok());
  Ask(peer, {"SET", "a", "1"});
  Flush(peer);
  MemoryFiles::Contents disk = peer.files().contents();
  std::string& file = disk.at(kFirstFile);
  file = "#it's \"a comment\n#TS:1\r\n" + file + "#'\r\n" + Multibulk({"SET", "b", "1"});
  Ask(peer, {"SET", "b", "1"});
  EXPECT_EQ(DigestAfterStart(disk, WithLog()), Digest(peer));
  file += "#TS:17";  // cut off
  EXPECT_EQ(DigestAfterStart(disk, WithLog()), Digest(peer));
}

TEST(AppendLog, ADamagedFileIsRefusedWithTheOffsetAndKept) {
  EnginePeer peer(WithLog());
  ASSERT_TRUE(peer.persistence().Start().ok());
  Ask(peer, {"SET", "a", "1"});
  Ask(peer, {"SET", "b", "1"});
  Flush(peer);
  const MemoryFiles::Contents disk = peer.files().contents();
  const auto damaged = [&](const std::function<void(std::string&)>& damage,
                           const std::string& path = kFirstFile) {
    EnginePeer restarted(WithLog());
    MemoryFiles::Contents changed = disk;
    damage(changed.at(path));
    Place(changed, restarted);
    const absl::Status status = restarted.persistence().Start();
    EXPECT_EQ(restarted.files().contents(), changed);
    return std::string(status.message());
  };
  const auto says = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_PRED2(says, damaged([](std::string& file) { file[0] = 'x'; }),
               "appendonly.aof.1.incr.aof': at byte 0 of ");
  for (const std::string& end :
       {std::string("GET a\r\n"), std::string("garbage without a line feed"), std::string("\r\n"),
        std::string(60'000, '\0'), std::string("*3\r\n$3\r\nSET\r\n$\0\0", 16),
        std::string("#TS:1\0\0", 7), std::string("*2\r\n$1\r\nabc\r\n$1")}) {
    EXPECT_PRED2(says, damaged([&](std::string& file) { file += end; }), "not a command");
  }
  EXPECT_PRED2(says, damaged([](std::string& file) {
                 file += Multibulk({"NOSUCH", "a"});
               }),
               "the command fails: ERR 'NOSUCH': unknown command");
  EXPECT_PRED2(says, damaged([](std::string& file) { file += Multibulk({"EXEC"}); }),
               "EXEC without MULTI");
  EXPECT_PRED2(says, damaged([](std::string& file) { file = "nonsense\n"; }, kManifest),
               "Cannot read the manifest");
}

TEST(AppendLog, AFullDiskRefusesWritesUntilSpaceIsFree) {
  EnginePeer peer(WithLog(AppendFsync::kEverySec));
  ASSERT_TRUE(peer.persistence().Start().ok());
  Ask(peer, {"SET", "a", "1"});
  Flush(peer);
  peer.files().set_failure([](const MemoryFiles::Operation& operation) {
    return operation.kind == Kind::kWrite ? absl::InternalError("No space left on device")
                                          : absl::OkStatus();
  });
  Ask(peer, {"SET", "b", "1"});  // applied in memory, waits for the disk
  peer.persistence().EndRound();
  const std::string refusal =
      "-MISCONF Errors writing to the AOF file: No space left on device\r\n";
  std::string reply;
  for (int i = 0; i < kMostLooks && reply != refusal; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    peer.Pass(Millis(1));
    reply = Ask(peer, {"SET", "c", "1"});
  }
  EXPECT_EQ(reply, refusal);
  EXPECT_EQ(Ask(peer, {"GET", "b"}), "$1\r\n1\r\n");
  EXPECT_NE(Ask(peer, {"INFO", "persistence"}).find("aof_last_write_status:err"),
            std::string::npos);
  peer.files().set_failure(nullptr);
  for (int i = 0; i < kMostLooks && reply != "+OK\r\n"; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    peer.Pass(Millis(1));
    reply = Ask(peer, {"SET", "c", "1"});
  }
  EXPECT_EQ(reply, "+OK\r\n");
  Flush(peer);
  EXPECT_EQ(DigestAfterStart(peer.files().contents(), WithLog()), Digest(peer));
}

TEST(AppendLog, AfterAFailedSyncANewBaseReplacesTheLog) {
  EnginePeer peer(WithLog());
  ASSERT_TRUE(peer.persistence().Start().ok());
  Ask(peer, {"SET", "a", "1"});
  Flush(peer);
  peer.files().set_failure([](const MemoryFiles::Operation& operation) {
    return operation.kind == Kind::kSyncData ? absl::InternalError("Input/output error")
                                             : absl::OkStatus();
  });
  Ask(peer, {"SET", "b", "1"});
  peer.persistence().EndRound();
  const uint64_t lost = peer.persistence().WrittenPosition();
  for (int i = 0; i < kMostLooks && !peer.persistence().MayBeLost(lost); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    peer.Pass(Millis(1));
  }
  EXPECT_TRUE(peer.persistence().MayBeLost(lost));
  EXPECT_EQ(Ask(peer, {"SET", "c", "1"}).substr(0, 8), "-MISCONF");
  peer.files().set_failure(nullptr);
  std::string reply;
  for (int i = 0; i < 100 && reply != "+OK\r\n"; ++i) {
    peer.Pass(Millis(1000));
    reply = Ask(peer, {"SET", "c", "1"});
  }
  EXPECT_EQ(reply, "+OK\r\n");
  Flush(peer);
  const MemoryFiles::Contents disk = peer.files().contents();
  EXPECT_FALSE(disk.contains(kFirstFile));
  EXPECT_EQ(DigestAfterStart(disk, WithLog()), Digest(peer));
}

// BGREWRITEAOF starts another rewrite, which fails with the sync. The repair does not wait for it.
TEST(AppendLog, TheRepairAfterAFailedSyncBeginsImmediately) {
  for (const AppendFsync policy : {AppendFsync::kAlways, AppendFsync::kEverySec}) {
    for (const char* const meanwhile : {"BGREWRITEAOF", "BGSAVE", "PING"}) {
      SCOPED_TRACE(meanwhile);
      EnginePeer peer(WithLog(policy));
      ASSERT_TRUE(peer.persistence().Start().ok());
      for (int i = 0; i < 3000; ++i) Ask(peer, {"SET", "k" + std::to_string(i), "v"});
      Flush(peer);
      std::atomic<int> failures = 0;
      peer.files().set_failure([&](const MemoryFiles::Operation& operation) {
        return operation.kind == Kind::kSyncData && failures++ == 0
                   ? absl::InternalError("Input/output error")
                   : absl::OkStatus();
      });
      Ask(peer, {"SET", "a", "1"});
      peer.persistence().EndRound();
      Ask(peer, {meanwhile});
      while (failures == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      Ask(peer, {meanwhile});
      const auto is_refused = [&] { return Ask(peer, {"SET", "b", "1"}).starts_with("-MISCONF"); };
      for (int i = 0; i < 5000 && !is_refused(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        peer.persistence().Tick(Micros(1000));
      }
      Ask(peer, {meanwhile});
      bool refused = true;
      for (int i = 0; i < 1000 && (refused = is_refused()); ++i) peer.Pass(Millis(1));
      EXPECT_FALSE(refused) << "a second after the failure";
      Flush(peer);
      EXPECT_EQ(DigestAfterStart(peer.files().contents(), WithLog()), Digest(peer));
    }
  }
}

// The sync may fail at any stage of the thread's work for a rewrite.
TEST(AppendLog, SyncsThatFailDuringRewritesLeaveALogOfAllData) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20; ++round) {
    EnginePeer peer(WithLog());
    ASSERT_TRUE(peer.persistence().Start().ok());
    for (int i = 0; i < 300; ++i) Ask(peer, {"SET", "k" + std::to_string(i), "v"});
    Flush(peer);
    std::atomic<int> left = static_cast<int>(random() % 20);  // syncs that succeed
    peer.files().set_failure([&left](const MemoryFiles::Operation& operation) {
      const bool is_sync = operation.kind == Kind::kSyncData || operation.kind == Kind::kSync;
      return is_sync && --left < 0 && left % 4 != 0 ? absl::InternalError("Input/output error")
                                                    : absl::OkStatus();
    });
    for (int i = 0; i < 30; ++i) {
      Ask(peer, {"INCR", "n"});
      Ask(peer, {"BGREWRITEAOF"});
      peer.persistence().EndRound();
      peer.Pass(Millis(static_cast<int64_t>(random() % 3000)));
    }
    peer.files().set_failure(nullptr);
    std::string reply;
    for (int i = 0; i < 200 && reply != "+OK\r\n"; ++i) {
      peer.Pass(Millis(1000));
      reply = Ask(peer, {"SET", "last", "1"});
    }
    ASSERT_EQ(reply, "+OK\r\n");
    Flush(peer);
    ASSERT_EQ(DigestAfterStart(peer.files().contents(), WithLog()), Digest(peer)) << round;
  }
}

TEST(AppendLog, CanBeTurnedOnAndOffWhileTheServerRuns) {
  Settings settings = WithLog();
  settings.appendonly = false;
  EnginePeer peer(settings);
  ASSERT_TRUE(peer.persistence().Start().ok());
  Ask(peer, {"SET", "before", "1"});
  EXPECT_EQ(Ask(peer, {"CONFIG", "SET", "appendonly", "yes"}), "+OK\r\n");
  Ask(peer, {"SET", "meanwhile", "1"});
  peer.Pass(Millis(100));
  Ask(peer, {"SET", "after", "1"});
  Flush(peer);
  const std::string digest = Digest(peer);
  EXPECT_EQ(DigestAfterStart(peer.files().contents(), WithLog()), digest);
  EXPECT_EQ(Ask(peer, {"CONFIG", "SET", "appendonly", "no"}), "+OK\r\n");
  Ask(peer, {"SET", "unlogged", "1"});
  EXPECT_EQ(DigestAfterStart(peer.files().contents(), WithLog()), digest);
  EXPECT_EQ(Ask(peer, {"CONFIG", "SET", "appendonly", "yes"}), "+OK\r\n");
  peer.Pass(Millis(100));
  Flush(peer);
  EXPECT_EQ(DigestAfterStart(peer.files().contents(), WithLog()), Digest(peer));
}

TEST(AppendLog, ALogTurnedOnDuringASnapshotStartsAfterIt) {
  for (const bool is_for_replica : {false, true}) {
    SCOPED_TRACE(is_for_replica ? "for a replica" : "BGSAVE");
    Settings settings = WithLog();
    settings.appendonly = false;
    EnginePeer peer(settings);
    ASSERT_TRUE(peer.persistence().Start().ok());
    for (int i = 0; i < 3000; ++i) Ask(peer, {"SET", "k" + std::to_string(i), "v"});
    std::atomic<bool> is_full = true;
    if (is_for_replica) {
      peer.persistence().StartTransfer(std::make_unique<EmptySink>(),
                                       peer.persistence().dataset().Contents(),
                                       [&is_full] { return is_full.load(); });
    } else {
      ASSERT_EQ(Ask(peer, {"BGSAVE"}), "+Background saving started\r\n");
    }
    const auto has = [&peer](const std::string& line) {
      return Ask(peer, {"INFO", "persistence"}).find(line + "\r\n") != std::string::npos;
    };
    EXPECT_EQ(Ask(peer, {"CONFIG", "SET", "appendonly", "yes"}), "+OK\r\n");
    EXPECT_EQ(Ask(peer, {"CONFIG", "SET", "appendonly", "no"}), "+OK\r\n");
    EXPECT_TRUE(has("aof_enabled:0") && has("aof_rewrite_scheduled:0"));
    EXPECT_EQ(Ask(peer, {"CONFIG", "SET", "appendonly", "yes"}), "+OK\r\n");
    EXPECT_EQ(Ask(peer, {"CONFIG", "SET", "appendonly", "yes"}), "+OK\r\n");
    EXPECT_EQ(Ask(peer, {"BGREWRITEAOF"}), "+Background append only file rewriting scheduled\r\n");
    EXPECT_TRUE(has("aof_enabled:1") && has("aof_rewrite_in_progress:0"));
    EXPECT_TRUE(has("aof_rewrite_scheduled:1") && has("aof_pending_rewrite:1"));
    EXPECT_FALSE(peer.files().contents().contains(kManifest));
    Ask(peer, {"SET", "meanwhile", "1"});
    peer.Send("waiter", Multibulk({"WAITAOF", "1", "0", "0"}));
    peer.persistence().EndRound();
    EXPECT_EQ(peer.Receive("waiter", Millis(0)), "") << "no log has anything";

    is_full = false;
    for (int i = 0; i < 20; ++i) peer.Pass(Millis(100));
    EXPECT_TRUE(has("aof_enabled:1") && has("aof_rewrite_scheduled:0"));
    EXPECT_TRUE(has("aof_rewrites:1"));
    Ask(peer, {"SET", "after", "1"});
    Flush(peer);
    peer.engine().executor().EndRound();
    EXPECT_EQ(peer.Receive("waiter", Millis(0)), "*2\r\n:1\r\n:0\r\n");
    EXPECT_EQ(DigestAfterStart(peer.files().contents(), WithLog()), Digest(peer));
  }
}

TEST(AppendLog, StartsFromAnExistingSnapshot) {
  Settings settings = WithLog();
  settings.appendonly = false;
  EnginePeer peer(settings);
  Ask(peer, {"SET", "k", "v"});
  ASSERT_EQ(Ask(peer, {"SAVE"}), "+OK\r\n");
  EnginePeer restarted(WithLog());
  Place(peer.files().contents(), restarted);
  ASSERT_TRUE(restarted.persistence().Start().ok());
  EXPECT_EQ(Digest(restarted), Digest(peer));
  EXPECT_EQ(DigestAfterStart(restarted.files().contents(), WithLog()), Digest(peer));
}

TEST(AppendLog, ASnapshotRestartsARewrite) {
  EnginePeer peer(WithLog());
  ASSERT_TRUE(peer.persistence().Start().ok());
  for (int i = 0; i < 5000; ++i) Ask(peer, {"SET", "k" + std::to_string(i), "v"});
  Ask(peer, {"BGREWRITEAOF"});
  EXPECT_EQ(Ask(peer, {"SAVE"}), "+OK\r\n");
  Ask(peer, {"SET", "after", "1"});
  for (int i = 0; i < 5; ++i) peer.Pass(Millis(100));
  Flush(peer);
  const std::string info = Ask(peer, {"INFO", "persistence"});
  EXPECT_NE(info.find("aof_rewrite_in_progress:0"), std::string::npos);
  EXPECT_NE(info.find("aof_last_bgrewrite_status:ok"), std::string::npos);
  EXPECT_EQ(DigestAfterStart(peer.files().contents(), WithLog()), Digest(peer));
}

// A process that is killed loses no acknowledged write.
TEST(AppendLog, RepliesToWritesWaitForTheWriteWithEveryPolicy) {
  for (const AppendFsync policy : {AppendFsync::kEverySec, AppendFsync::kNo}) {
    EnginePeer peer(WithLog(policy));
    ASSERT_TRUE(peer.persistence().Start().ok());
    std::atomic<bool> syncs_stop = true;
    std::atomic<bool> writes_stop = false;
    std::atomic<bool> is_syncing = false;
    peer.files().set_failure([&](const MemoryFiles::Operation& operation) {
      if (operation.kind == Kind::kSyncData) is_syncing = true;
      while (operation.kind == Kind::kSyncData && syncs_stop) std::this_thread::yield();
      while (operation.kind == Kind::kWrite && writes_stop) std::this_thread::yield();
      return absl::OkStatus();
    });
    const auto release_of = [&](const std::string& client) {
      return peer.engine().reply_holds().ReleaseOf(*peer.Find(client));
    };
    const auto is_in_file = [&](const std::string& text) {
      return peer.files().contents().at(kFirstFile).find(text) != std::string::npos;
    };
    peer.Send("reader", Multibulk({"PING"}));
    Ask(peer, {"SET", "a", "first"});
    EXPECT_EQ(release_of("a"), Release::kLater) << "in the middle of a round";
    EXPECT_EQ(release_of("reader"), Release::kNow);
    peer.persistence().EndRound();
    EXPECT_TRUE(is_in_file("first"));
    EXPECT_EQ(release_of("a"), Release::kNow);

    if (policy == AppendFsync::kNo) Ask(peer, {"CONFIG", "SET", "appendfsync", "everysec"});
    peer.persistence().Tick(Micros(1000));
    while (!is_syncing) std::this_thread::yield();
    if (policy == AppendFsync::kNo) Ask(peer, {"CONFIG", "SET", "appendfsync", "no"});
    writes_stop = true;
    Ask(peer, {"SET", "a", "second"});
    peer.persistence().EndRound();
    EXPECT_EQ(release_of("a"), Release::kLater);
    EXPECT_EQ(release_of("reader"), Release::kNow);
    EXPECT_FALSE(is_in_file("second"));
    writes_stop = false;
    while (release_of("a") != Release::kNow) std::this_thread::yield();
    EXPECT_TRUE(is_in_file("second"));
    EXPECT_LT(peer.persistence().DurablePosition(), peer.persistence().WrittenPosition());
    syncs_stop = false;
    peer.files().set_failure(nullptr);

    // A write that fails does not hold the reply, as in Redis; the next request is refused.
    peer.files().set_failure([](const MemoryFiles::Operation& operation) {
      return operation.kind == Kind::kWrite ? absl::InternalError("No space left on device")
                                            : absl::OkStatus();
    });
    Ask(peer, {"SET", "a", "third"});
    peer.persistence().EndRound();
    while (release_of("a") != Release::kNow) std::this_thread::yield();
    peer.persistence().EndRound();  // of the round that the signal starts
    EXPECT_TRUE(Ask(peer, {"SET", "a", "fourth"}).starts_with("-MISCONF"));
    peer.files().set_failure(nullptr);
    while (!is_in_file("third")) std::this_thread::yield();  // no sync follows with `no`
  }
}

// Ticks may be a second apart.
TEST(AppendLog, ANewPolicyAppliesFromTheReplyOfConfigSet) {
  EnginePeer peer(WithLog(AppendFsync::kEverySec));
  ASSERT_TRUE(peer.persistence().Start().ok());
  std::atomic<bool> is_stopped = true;
  peer.files().set_failure([&](const MemoryFiles::Operation& operation) {
    while (operation.kind == Kind::kSyncData && is_stopped) std::this_thread::yield();
    return absl::OkStatus();
  });
  const auto release = [&] { return peer.engine().reply_holds().ReleaseOf(*peer.Find("a")); };
  Ask(peer, {"SET", "k", "1"});
  peer.persistence().EndRound();
  EXPECT_EQ(release(), Release::kNow);

  // In the same round.
  Ask(peer, {"CONFIG", "SET", "appendfsync", "always"});
  Ask(peer, {"SET", "k", "2"});
  peer.persistence().EndRound();
  EXPECT_EQ(release(), Release::kLater);
  is_stopped = false;
  Flush(peer);
  EXPECT_EQ(release(), Release::kNow);

  // In the next round, in which a read waits, too.
  Ask(peer, {"CONFIG", "SET", "appendfsync", "everysec"});
  peer.persistence().EndRound();
  EXPECT_FALSE(peer.engine().reply_holds().IsOn());
  Ask(peer, {"CONFIG", "SET", "appendfsync", "always"});
  peer.persistence().EndRound();
  EXPECT_TRUE(peer.engine().reply_holds().IsOn());
  peer.files().set_failure(nullptr);
}

TEST(AppendLog, RepliesWaitForTheDiskOnlyWithAlways) {
  for (const auto& [policy, waits] :
       {std::pair(AppendFsync::kAlways, true), std::pair(AppendFsync::kEverySec, false)}) {
    EnginePeer peer(WithLog(policy));
    ASSERT_TRUE(peer.persistence().Start().ok());
    std::atomic<bool> is_stopped = true;
    peer.files().set_failure([&](const MemoryFiles::Operation& operation) {
      while (operation.kind == Kind::kSyncData && is_stopped) std::this_thread::yield();
      return absl::OkStatus();
    });
    Ask(peer, {"SET", "a", "1"});
    peer.persistence().EndRound();
    const Client& writer = *peer.Find("a");
    peer.Send("b", Multibulk({"PING"}));
    EXPECT_EQ(peer.engine().reply_holds().ReleaseOf(writer),
              waits ? Release::kLater : Release::kNow);
    for (const Words& reads : std::vector<Words>{{"GET", "a"},
                                                 {"DBSIZE"},
                                                 {"SETNX", "a", "2"},
                                                 {"EVAL", "return redis.call('get', 'a')", "0"}}) {
      peer.Send("reader", Multibulk(reads));
      EXPECT_EQ(peer.engine().reply_holds().ReleaseOf(*peer.Find("reader")),
                waits ? Release::kLater : Release::kNow)
          << reads[0];
      peer.HangUp("reader");
    }
    // Keys share slots. A reader of another key may wait, but readers of all other keys do not.
    const auto is_released = [&](const std::string& key) {
      peer.Send(key, Multibulk({"GET", key}));
      return peer.engine().reply_holds().ReleaseOf(*peer.Find(key)) == Release::kNow;
    };
    EXPECT_TRUE(is_released("b") || is_released("c") || is_released("d"));
    EXPECT_EQ(peer.engine().reply_holds().ReleaseOf(*peer.Find("b")), Release::kNow);
    is_stopped = false;
    if (waits) Flush(peer);
    EXPECT_EQ(peer.engine().reply_holds().ReleaseOf(writer), Release::kNow);
    peer.files().set_failure(nullptr);
  }
}

}  // namespace
}  // namespace zsetd::log_test
