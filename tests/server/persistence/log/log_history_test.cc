// The files that a rewrite has replaced are removed, also after a crash. Needed files are not.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/server/persistence/log/log_peer.h"
#include "tests/transcript/engine_peer.h"

namespace zsetd::log_test {
namespace {

const char* const kFirstBase = "/data/appendonlydir/appendonly.aof.1.base.rdb";

absl::Status FailIf(bool fails) {
  return fails ? absl::InternalError("Input/output error") : absl::OkStatus();
}

bool NamesHistory(const MemoryFiles::Contents& disk) {
  return disk.at(kManifest).find(" type h") != std::string::npos;
}

std::string HistoryLine(const std::string& name) { return "file " + name + " seq 1 type h\n"; }

void BeginAgain(EnginePeer& peer) {
  ASSERT_EQ(Ask(peer, {"CONFIG", "SET", "appendonly", "no"}), "+OK\r\n");
  ASSERT_EQ(Ask(peer, {"CONFIG", "SET", "appendonly", "yes"}), "+OK\r\n");
  for (int look = 0; look < kMostLooks && peer.persistence().IsRewriting(); ++look) {
    peer.Pass(Millis(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Returns the disk of a log whose last rewrite could not remove the replaced files, and the digest.
Started DiskWithHistory() {
  EnginePeer peer(WithLog());
  EXPECT_TRUE(peer.persistence().Start().ok());
  Ask(peer, {"INCR", "n"});
  peer.files().set_failure([](const MemoryFiles::Operation& operation) {
    return FailIf(operation.kind == Kind::kRemove);
  });
  Rewrite(peer);
  Ask(peer, {"INCR", "n"});
  Flush(peer);
  return {.digest = Digest(peer), .disk = peer.files().contents()};
}

TEST(LogHistory, FilesThatCannotBeRemovedAreRemovedLater) {
  for (const auto& rewrite : {Rewrite, BeginAgain}) {
    EnginePeer peer(WithLog());
    ASSERT_TRUE(peer.persistence().Start().ok());
    Ask(peer, {"INCR", "n"});
    peer.files().set_failure([](const MemoryFiles::Operation& operation) {
      return FailIf(operation.kind == Kind::kRemove);
    });
    rewrite(peer);
    Ask(peer, {"INCR", "n"});
    Flush(peer);
    peer.files().set_failure(nullptr);
    EXPECT_NE(Ask(peer, {"INFO", "persistence"}).find("aof_last_bgrewrite_status:ok"),
              std::string::npos);
    const MemoryFiles::Contents disk = peer.files().contents();
    EXPECT_EQ(ReplacedFiles(disk), (Words{kFirstBase, kFirstFile}));
    EXPECT_TRUE(NamesHistory(disk));

    const Started started = StartOn(disk, WithLog());
    EXPECT_EQ(started.digest, Digest(peer));
    EXPECT_EQ(started.disk.size(), 3u) << "base, incremental file and manifest";
    EXPECT_FALSE(NamesHistory(started.disk));

    Rewrite(peer);
    EXPECT_EQ(peer.files().contents().size(), 3u);
    EXPECT_FALSE(NamesHistory(peer.files().contents()));
    EXPECT_EQ(DigestAfterStart(peer.files().contents(), WithLog()), Digest(peer));
  }
}

TEST(LogHistory, TheManifestMayNameRemovedFiles) {
  EnginePeer peer(WithLog());
  ASSERT_TRUE(peer.persistence().Start().ok());
  Ask(peer, {"INCR", "n"});
  std::atomic<int> manifests = 0;
  peer.files().set_failure([&](const MemoryFiles::Operation& operation) {
    const bool is_manifest = operation.kind == Kind::kRename && operation.to == kManifest;
    return FailIf(is_manifest && ++manifests == 3);
  });
  Rewrite(peer);
  peer.files().set_failure(nullptr);
  const MemoryFiles::Contents disk = peer.files().contents();
  EXPECT_EQ(disk.size(), 3u);
  EXPECT_TRUE(NamesHistory(disk));
  const Started started = StartOn(disk, WithLog());
  EXPECT_EQ(started.digest, Digest(peer));
  EXPECT_FALSE(NamesHistory(started.disk));
  Rewrite(peer);
  EXPECT_FALSE(NamesHistory(peer.files().contents()));
}

TEST(LogHistory, ACrashDuringTheRemovalAtAStartLosesNothing) {
  const Started before = DiskWithHistory();
  EnginePeer peer(WithLog());
  Place(before.disk, peer);
  ASSERT_TRUE(peer.persistence().Start().ok());
  const size_t all = peer.files().operations().size();
  EXPECT_GT(all, 5u);
  for (size_t count = 0; count <= all; ++count) {
    for (const MemoryFiles::Contents& disk : peer.files().CrashStates(count)) {
      const Started started = StartOn(disk, WithLog());
      ASSERT_EQ(started.digest, before.digest) << "after " << count << " operations";
      ASSERT_EQ(ReplacedFiles(started.disk), Words()) << "after " << count << " operations";
    }
  }
}

// Before that, a crash may restore a manifest that needs them.
void ExpectRemovalsOnlyOfADurableManifest(EnginePeer& peer, bool is_durable) {
  for (const MemoryFiles::Operation& operation : peer.files().operations()) {
    if (operation.kind == Kind::kRename && operation.to == kManifest) is_durable = false;
    if (operation.kind == Kind::kSyncDirectory) is_durable = true;
    const bool is_draft = operation.path.find("/temp-") != std::string::npos;
    if (operation.kind != Kind::kRemove || is_draft) continue;
    EXPECT_TRUE(is_durable) << operation.path;
  }
}

TEST(LogHistory, FilesAreRemovedOnlyWhenTheManifestIsDurable) {
  EnginePeer restarted(WithLog());
  Place(DiskWithHistory().disk, restarted);
  ASSERT_TRUE(restarted.persistence().Start().ok());
  ExpectRemovalsOnlyOfADurableManifest(restarted, /*is_durable=*/false);
  Rewrite(restarted);
  ExpectRemovalsOnlyOfADurableManifest(restarted, /*is_durable=*/false);
}

TEST(LogHistory, AStartThatCannotSyncRemovesNothing) {
  const Started before = DiskWithHistory();
  EnginePeer peer(WithLog());
  Place(before.disk, peer);
  peer.files().set_failure([](const MemoryFiles::Operation& operation) {
    return FailIf(operation.kind == Kind::kSyncDirectory);
  });
  ASSERT_TRUE(peer.persistence().Start().ok());
  EXPECT_EQ(peer.files().contents(), before.disk);
  peer.files().set_failure(nullptr);
}

TEST(LogHistory, NeededFilesAreNeverRemoved) {
  Started before = DiskWithHistory();
  for (const auto& [path, bytes] : MemoryFiles::Contents(before.disk)) {
    before.disk.at(kManifest) += HistoryLine(path.substr(path.rfind('/') + 1));
  }
  before.disk.at(kManifest) += HistoryLine("missing");
  const Started started = StartOn(before.disk, WithLog());
  EXPECT_EQ(started.digest, before.digest);
  EXPECT_EQ(started.disk.size(), 3u);
  EXPECT_FALSE(NamesHistory(started.disk));
  EXPECT_EQ(DigestAfterStart(started.disk, WithLog()), before.digest);
}

// Redis writes such a manifest if BGREWRITEAOF runs without a log.
TEST(LogHistory, ANewFileMayHaveTheNameOfAHistoryFile) {
  for (const bool removals_fail : {false, true}) {
    EnginePeer old(WithLog());
    ASSERT_TRUE(old.persistence().Start().ok());
    Ask(old, {"INCR", "n"});
    Flush(old);
    MemoryFiles::Contents disk = old.files().contents();
    disk.at(kManifest) =
        "file appendonly.aof.1.base.rdb seq 1 type b\n" + HistoryLine("appendonly.aof.1.incr.aof");
    EnginePeer peer(WithLog());
    Place(disk, peer);
    peer.files().set_failure([removals_fail](const MemoryFiles::Operation& operation) {
      return FailIf(removals_fail && operation.kind == Kind::kRemove);
    });
    ASSERT_TRUE(peer.persistence().Start().ok());
    Ask(peer, {"SET", "new", "1"});
    Flush(peer);
    EXPECT_FALSE(NamesHistory(peer.files().contents()));
    EXPECT_EQ(Ask(peer, {"KEYS", "*"}), "*1\r\n$3\r\nnew\r\n");
    for (const auto& state : peer.files().CrashStates(peer.files().operations().size())) {
      EXPECT_EQ(DigestAfterStart(state, WithLog()), Digest(peer));
    }
    Rewrite(peer);
    EXPECT_EQ(DigestAfterStart(peer.files().contents(), WithLog()), Digest(peer));
    peer.files().set_failure(nullptr);
  }
}

}  // namespace
}  // namespace zsetd::log_test
