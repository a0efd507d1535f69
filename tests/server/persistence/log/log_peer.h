// Runs the append-only log of an EnginePeer in tests.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "server/persistence/log/log_manifest.h"
#include "server/persistence/snapshot/snapshot_sink.h"
#include "tests/transcript/engine_peer.h"
#include "tests/transcript/transcript.h"

namespace zsetd::log_test {

using Kind = MemoryFiles::Operation::Kind;
using Words = std::vector<std::string>;

inline const char* const kManifest = "/data/appendonlydir/appendonly.aof.manifest";
inline const char* const kFirstFile = "/data/appendonlydir/appendonly.aof.1.incr.aof";

inline Settings WithLog(AppendFsync policy = AppendFsync::kAlways) {
  Settings settings;
  settings.enable_debug_command = DangerousAccess::kYes;
  settings.save.points.clear();
  settings.dir = "/data";
  settings.appendonly = true;
  settings.appendfsync = policy;
  return settings;
}

inline std::string Ask(EnginePeer& peer, const Words& words) {
  peer.Send("a", Multibulk(words));
  return peer.Receive("a", Millis(0));
}

inline constexpr int kMostLooks = 60'000;  // a millisecond each, for a thread on a busy machine

inline std::string Digest(EnginePeer& peer) { return Ask(peer, {"DEBUG", "DIGEST"}); }

// Waits until the log is on the disk.
inline void Flush(EnginePeer& peer) {
  peer.persistence().EndRound();
  while (peer.persistence().DurablePosition() < peer.persistence().WrittenPosition()) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

inline void Place(const MemoryFiles::Contents& disk, EnginePeer& peer) {
  for (const auto& [path, bytes] : disk) peer.files().set_contents(path, bytes);
}

// A server that has started with these files: its data, and the files after the start.
struct Started {
  std::string digest;  // or the error
  MemoryFiles::Contents disk;
};

inline Started StartOn(const MemoryFiles::Contents& disk, const Settings& settings) {
  EnginePeer peer(settings);
  Place(disk, peer);
  const absl::Status status = peer.persistence().Start();
  return {.digest = status.ok() ? Digest(peer) : std::string(status.message()),
          .disk = peer.files().contents()};
}

inline std::string DigestAfterStart(const MemoryFiles::Contents& disk, const Settings& settings) {
  return StartOn(disk, settings).digest;
}

// Returns the paths of files that the base of the log has replaced. Their numbers are smaller.
inline std::vector<std::string> ReplacedFiles(const MemoryFiles::Contents& disk) {
  const absl::StatusOr<LogManifest> manifest = ParseManifest(disk.at(kManifest));
  if (!manifest.ok()) return {std::string(manifest.status().message())};
  const std::string start = "/data/appendonlydir/appendonly.aof.";
  std::vector<std::string> paths;
  for (const auto& [path, bytes] : disk) {
    if (!path.starts_with(start) || path == kManifest) continue;
    if (std::stoull(path.substr(start.size())) < manifest->base->number) paths.push_back(path);
  }
  return paths;
}

// Rewrites the log and returns when the rewrite has ended.
inline void Rewrite(EnginePeer& peer) {
  Ask(peer, {"BGREWRITEAOF"});
  for (int look = 0; look < kMostLooks && peer.persistence().IsRewriting(); ++look) {
    peer.Pass(Millis(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_FALSE(peer.persistence().IsRewriting());
}

// Accepts the snapshot of a replica, and drops it.
class EmptySink : public SnapshotSink {
 public:
  EmptySink() : SnapshotSink(/*with_checksum=*/false) {}

 private:
  absl::Status Put(std::string_view) override { return absl::OkStatus(); }
  absl::Status Complete() override { return absl::OkStatus(); }
};

}  // namespace zsetd::log_test
