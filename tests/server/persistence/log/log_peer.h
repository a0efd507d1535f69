// Runs the append-only log of an EnginePeer in tests.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

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

// Returns the digest of the data of a server that starts with these files.
inline std::string DigestAfterStart(const MemoryFiles::Contents& disk, const Settings& settings) {
  EnginePeer restarted(settings);
  Place(disk, restarted);
  const absl::Status status = restarted.persistence().Start();
  return status.ok() ? Digest(restarted) : std::string(status.message());
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

}  // namespace zsetd::log_test
