// The log is in one locked directory, under names that no other state of the disk uses.
#include "server/persistence/log/log_directory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "tests/server/persistence/log/log_peer.h"
#include "tests/transcript/engine_peer.h"
#include "tests/transcript/transcript.h"

namespace zsetd::log_test {
namespace {

void ChangeDirectory(EnginePeer& peer, const std::string& directory) {
  Settings settings = peer.engine().settings();
  settings.dir = directory;
  ASSERT_TRUE(peer.engine().Configure(settings).ok());
}

TEST(LogDirectory, StaysWhereItBeganIfTheDirectoryChanges) {
  EnginePeer peer(WithLog());
  ASSERT_TRUE(peer.persistence().Start().ok());
  Ask(peer, {"SET", "a", "1"});
  ChangeDirectory(peer, "/other");
  Ask(peer, {"SET", "b", "2"});
  Rewrite(peer);
  Ask(peer, {"SET", "c", "3"});
  EXPECT_EQ(Ask(peer, {"DEBUG", "LOADAOF"}), "+OK\r\n");
  EXPECT_EQ(Ask(peer, {"DBSIZE"}), ":3\r\n");
  Flush(peer);
  for (const auto& [path, bytes] : peer.files().contents()) {
    EXPECT_TRUE(path.starts_with("/data/")) << path;
  }
  EXPECT_EQ(DigestAfterStart(peer.files().contents(), WithLog()), Digest(peer));

  // A log that begins again begins in the present directory.
  ASSERT_EQ(Ask(peer, {"CONFIG", "SET", "appendonly", "no"}), "+OK\r\n");
  ASSERT_EQ(Ask(peer, {"CONFIG", "SET", "appendonly", "yes"}), "+OK\r\n");
  Rewrite(peer);
  Settings moved = WithLog();
  moved.dir = "/other";
  EXPECT_EQ(DigestAfterStart(peer.files().contents(), moved), Digest(peer));
}

TEST(LogDirectory, BeginsInADirectoryThatIsSetAtTheSameTime) {
  EnginePeer peer(WithLog());
  ASSERT_TRUE(peer.persistence().Start().ok());
  Ask(peer, {"SET", "a", "1"});
  ASSERT_EQ(Ask(peer, {"CONFIG", "SET", "appendonly", "no"}), "+OK\r\n");
  Settings moved = WithLog();
  moved.dir = "/other";
  ASSERT_TRUE(peer.engine().Configure(moved).ok());
  Rewrite(peer);
  EXPECT_EQ(DigestAfterStart(peer.files().contents(), moved), Digest(peer));
}

TEST(LogDirectory, KeepsItsDirectoryLockedUntilItEnds) {
  EnginePeer peer(WithLog());
  ASSERT_TRUE(peer.persistence().Start().ok());
  const auto is_locked = [&](const std::string& directory) {
    return *peer.files().Lock(directory) == nullptr;
  };
  ChangeDirectory(peer, "/other");
  ASSERT_EQ(Ask(peer, {"SAVE"}), "+OK\r\n");
  EXPECT_TRUE(is_locked("/data"));
  EXPECT_TRUE(is_locked("/other"));
  ChangeDirectory(peer, "/data");
  ASSERT_EQ(Ask(peer, {"SAVE"}), "+OK\r\n");
  EXPECT_TRUE(is_locked("/data"));
  EXPECT_FALSE(is_locked("/other"));
  ChangeDirectory(peer, "/other");
  ASSERT_EQ(Ask(peer, {"SAVE"}), "+OK\r\n");
  ASSERT_EQ(Ask(peer, {"CONFIG", "SET", "appendonly", "no"}), "+OK\r\n");
  EXPECT_FALSE(is_locked("/data"));
  EXPECT_TRUE(is_locked("/other"));
}

// The manifest of a rewrite is on the disk, but the server does not know. If the repair wrote its
// base over the one of that rewrite, a start would run commands that the base already contains.
TEST(LogDirectory, ARepairReusesNoNameThatTheManifestOnTheDiskMayHave) {
  EnginePeer peer(WithLog());
  ASSERT_TRUE(peer.persistence().Start().ok());
  Ask(peer, {"INCR", "n"});
  Flush(peer);
  std::atomic<int> manifests = 0;
  std::atomic<bool> fails_next_sync = false;
  peer.files().set_failure([&](const MemoryFiles::Operation& operation) {
    if (operation.kind == Kind::kRename && operation.to == kManifest) {
      ++manifests;
      fails_next_sync = manifests == 2;
      return manifests > 2 ? absl::InternalError("Input/output error") : absl::OkStatus();
    }
    const bool fails = operation.kind == Kind::kSyncDirectory && fails_next_sync.exchange(false);
    return fails ? absl::InternalError("Input/output error") : absl::OkStatus();
  });
  Ask(peer, {"BGREWRITEAOF"});
  for (int i = 0; i < 10; ++i) Ask(peer, {"INCR", "n"});
  Ask(peer, {"RPUSH", "l", "x"});
  for (int i = 0; i < kMostLooks && manifests < 4; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    peer.Pass(Millis(100));
  }
  ASSERT_GE(manifests, 4) << "two repairs have failed";
  const std::string digest = Digest(peer);
  EXPECT_EQ(DigestAfterStart(peer.files().contents(), WithLog()), digest);
  for (const auto& disk : peer.files().CrashStates(peer.files().operations().size())) {
    EXPECT_EQ(DigestAfterStart(disk, WithLog()), digest);
  }

  peer.files().set_failure(nullptr);
  std::string reply;
  for (int i = 0; i < 200 && reply != "+OK\r\n"; ++i) {
    peer.Pass(Millis(1000));
    reply = Ask(peer, {"SET", "last", "1"});
  }
  EXPECT_EQ(reply, "+OK\r\n");
  Flush(peer);
  const MemoryFiles::Contents disk = peer.files().contents();
  EXPECT_EQ(disk.size(), 3u) << "base, incremental file and manifest";
  EXPECT_EQ(DigestAfterStart(disk, WithLog()), Digest(peer));
}

TEST(LogDirectory, LoadsTheSingleFileOfOldRedis) {
  EnginePeer peer(WithLog());
  peer.files().set_contents("/data/appendonly.aof", Multibulk({"SELECT", "0"}) +
                                                        Multibulk({"SET", "k", "v"}) +
                                                        Multibulk({"SADD", "s", "a", "b"}));
  const absl::Status status = peer.persistence().Start();
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(Ask(peer, {"SCARD", "s"}), ":2\r\n");
  Ask(peer, {"SET", "more", "1"});
  Flush(peer);
  EXPECT_FALSE(peer.files().contents().contains("/data/appendonly.aof"));
  EXPECT_EQ(DigestAfterStart(peer.files().contents(), WithLog()), Digest(peer));
}

}  // namespace
}  // namespace zsetd::log_test
