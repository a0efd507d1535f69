#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "core/util/time.h"
#include "server/engine/engine.h"
#include "server/engine/store/dataset_snapshot.h"
#include "server/persistence/snapshot/snapshot_encoder.h"
#include "server/persistence/snapshot/snapshot_sink.h"
#include "server/persistence/snapshot/snapshot_thread.h"

namespace zsetd {

// A snapshot that is being taken while requests run.
//
//   a tick: DatasetSnapshot ──entries──► SnapshotEncoder ──pieces──► SnapshotThread ──► file
//           a tenth of a millisecond at most                encodes blocks, compresses, sums,
//                                                           writes, syncs
//
// docs/snapshots.md shows all types on the path.
//
// The snapshot contains the data at the instant of its creation. The engine's thread encodes some
// entries at each Continue(), and encodes an entry that is about to change before the change. It
// only copies the packed blocks of large sorted sets; the snapshot's thread encodes and writes
// them. At most one snapshot exists at a time. A snapshot that is destroyed before it is done
// leaves no file.
class BackgroundSnapshot {
 public:
  // `on_progress` is called on another thread when HasWork() or done() becomes true; it may be
  // null.
  BackgroundSnapshot(std::unique_ptr<SnapshotSink> sink, const Engine& engine,
                     const SnapshotContents& contents, std::function<void()> on_progress);

  ~BackgroundSnapshot();

  // Whether Continue() has entries to encode and the thread's queue has room for them.
  bool HasWork() const;

  // Encodes for a tenth of a millisecond. With many requests, encodes for a quarter of their time
  // since the last call, unless that is too short.
  void Continue();

  // Whether the file is complete or has failed. status() returns the result.
  bool done() const { return thread_->done(); }
  absl::Status status() const { return thread_->status(); }

  size_t keys_saved() const { return encoder_.keys(); }
  size_t keys() const { return snapshot_.keys(); }
  uint64_t written() const { return thread_->written(); }  // bytes
  bool encoded() const { return encoded_; }

  Micros started_at() const { return started_at_; }  // by the stopwatch
  uint64_t changes() const { return changes_; }      // Store::change_count() at its instant

 private:
  const Engine& engine_;
  SnapshotEncoder encoder_;
  DatasetSnapshot snapshot_;
  std::shared_ptr<SnapshotThread> thread_;
  bool encoded_ = false;

  // The time of the requests that ran since the last slice.
  uint64_t requests_before_;
  Micros last_turn_;
  Micros time_of_requests_{0};

  const Micros started_at_;
  const uint64_t changes_;
};

// Takes a snapshot of this instant in the foreground. Returns when it is on disk or has failed.
absl::Status WriteSnapshot(const Engine& engine, const SnapshotContents& contents,
                           SnapshotSink& sink);

}  // namespace zsetd
