#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "core/util/time.h"

namespace zsetd {

// The figures of snapshots for INFO.
struct SnapshotStatus {
  bool saving = false;      // a snapshot is being taken in the background
  size_t keys_saved = 0;    // by that snapshot
  size_t keys_to_save = 0;  // by that snapshot
  std::optional<Millis> saving_for;
  bool last_save_ok = true;  // of the last snapshot in the background
  std::optional<Millis> last_save_took;
  Millis last_saved_at{0};               // since the Unix epoch; initially the server's start
  uint64_t changes_since_last_save = 0;  // since the instant that the last snapshot shows
  uint64_t saves = 0;                    // since the start or CONFIG RESETSTAT
  uint64_t keys_loaded = 0;              // by the last load
  uint64_t keys_expired = 0;             // skipped by the last load
};

// The figures for INFO while data is loaded: at the start, or from a master.
struct LoadingStatus {
  Millis started_at{0};
  uint64_t total_bytes = 0;
  uint64_t loaded_bytes = 0;
  bool is_beside = false;  // the old data stays readable
};

// The options of DEBUG RELOAD.
struct ReloadOptions {
  bool saves = true;      // saves a snapshot first
  bool flushes = true;    // drops the data in memory
  bool replaces = false;  // replaces keys that are in memory and in the file

  // Whether the data is the same afterwards.
  bool IsPlain() const { return saves && flushes; }
};

// Takes and loads snapshots.
class SnapshotControl {
 public:
  virtual ~SnapshotControl() = default;

  // Nullopt unless data is being loaded while clients are connected.
  virtual std::optional<LoadingStatus> loading() const = 0;

  virtual SnapshotStatus snapshot_status() const = 0;

  // Restarts SnapshotStatus::saves (CONFIG RESETSTAT).
  virtual void ResetStats() = 0;

  // Takes a snapshot and returns when it is on disk. The error has a reason, which is logged too.
  // Precondition: not IsSaving().
  virtual absl::Status Save() = 0;

  // Whether a snapshot is being taken in the background.
  virtual bool IsSaving() const = 0;

  // Takes a snapshot of this instant in the background: immediately, or when the current request
  // has ended.
  virtual absl::Status StartSaving() = 0;
  virtual void ScheduleSaving() = 0;

  // Takes the last snapshot before the server ends, if save points are configured or `must_save`,
  // unless `may_not`. Cancels a snapshot in the background.
  virtual absl::Status SaveBeforeExit(bool must_save, bool may_not) = 0;

  // Must be called after all data was dropped (FLUSHALL), which a restart must not restore. Cancels
  // a running snapshot immediately. If there are save points, SaveFlushed() saves the present data.
  virtual void OnFlushAll() = 0;

  // Must be called between two units while DiskState::flush_is_unsaved().
  virtual void SaveFlushed() = 0;

  // Replaces the data in memory by that of the snapshot file, or adds it. An error leaves the data
  // in memory unchanged.
  virtual absl::Status LoadAgain(const ReloadOptions& options) = 0;
};

}  // namespace zsetd
