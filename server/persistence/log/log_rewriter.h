#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/util/time.h"
#include "server/engine/engine.h"
#include "server/engine/services/log_control.h"
#include "server/persistence/file/data_directory.h"
#include "server/persistence/log/log_directory.h"
#include "server/persistence/log/log_thread.h"
#include "server/persistence/snapshot/background_snapshot.h"
#include "server/persistence/snapshot/dataset.h"

namespace zsetd {

// Rewrites the append-only log in the background: a snapshot of an instant replaces all commands
// before that instant.
//
//   manifest   base 1, incr 1          base 1, incr 1, incr 2             base 2, incr 2
//   log        ──── incr 1 ────┬────────────────── incr 2 ───────────────────────────────
//                              └ the instant: base 2 is written ... complete ┘
//
// The manifest after the rewrite names the replaced files as history until they are removed.
//
// If the present files are not a valid log (none exist yet, or a sync has failed), the manifest
// names the new files only when the base is complete.
class LogRewriter {
 public:
  // The arguments outlive this. `on_progress` is called on another thread when HasWork() becomes
  // true; it may be null.
  LogRewriter(Engine& engine, LogDirectory& directory, Dataset& dataset, const Log& log,
              std::function<void()> on_progress)
      : engine_(engine),
        directory_(directory),
        dataset_(dataset),
        log_(log),
        on_progress_(std::move(on_progress)) {}

  // Starts a rewrite whose instant is now. Preconditions: no unit is open, all units were handed to
  // the thread, no rewrite is running, and no snapshot is being taken.
  void Start(LogThread& thread, bool keeps_old_files);

  bool IsUnderWay() const { return rewrite_ != nullptr; }

  // Whether a rewrite is running without which no valid log exists.
  bool IsBeginning() const { return rewrite_ != nullptr && !rewrite_->keeps_old_files; }

  // Whether the log continues in a file that no manifest names, because the rewrite that would have
  // named it has failed. The next rewrite must begin a log.
  bool LeftUnnamedFile() const { return left_unnamed_file_; }

  // Whether Continue() has data to encode or a rewrite to complete.
  bool HasWork() const;

  // Continues the running rewrite. `thread` is the one that was passed to Start().
  enum class Progress { kNone, kDone, kFailed };
  Progress Continue(LogThread& thread);

  // Cancels the rewrite if its snapshot is still being taken, so that another snapshot can start.
  // Returns whether it canceled one.
  bool Abandon();

  // Cancels the running rewrite. IsUnderWay() stays true until the thread has completed its present
  // step. The units written since the start are kept: the new file follows the old ones.
  void GiveUp(absl::Status why);

  // Drops the running rewrite because the log ends.
  void Reset();

  // Whether it is time to begin a log: immediately for the first try, after a pause if the last try
  // has failed. Failures of other rewrites and cancelled tries do not count. Precondition: no
  // rewrite is running.
  bool IsTimeToBegin() const;
  bool IsFirstBeginning() const { return failed_beginnings_ == 0; }

  // Returns the growth in percent of a log of this size if it is time to rewrite it, else nullopt.
  // Repeated failures are followed by a pause. Precondition: no rewrite is running.
  std::optional<uint64_t> GrowthToRewrite(uint64_t bytes) const;

  // The size of the files that the manifest names, except the last one; and the size of the log
  // after the last rewrite or load.
  uint64_t old_bytes() const { return base_bytes_ + incremental_bytes_; }
  uint64_t bytes_after_rewrite() const { return bytes_after_rewrite_; }
  void SetBytes(uint64_t base, uint64_t incremental) {
    bytes_after_rewrite_ = base_bytes_ = base;
    incremental_bytes_ = incremental;
  }

  // Sets the fields about rewriting.
  void Describe(LogStatus& status) const;
  void ResetStats() { rewrites_ = 0; }

 private:
  struct Rewrite {
    std::unique_ptr<BackgroundSnapshot> snapshot;  // null: complete or canceled
    uint64_t base_bytes = 0;                       // set when the base is complete
    absl::Status given_up;                         // the reason; OK: not canceled
    LogManifest next;                              // the manifest after the rewrite
    uint64_t old_bytes = 0;                        // the size of the file that Start() ended
    bool keeps_old_files = true;                   // the log is valid without the new base
    bool is_waiting = true;                        // the thread is doing a step
    bool is_finishing = false;                     // that step is the last one
    Micros started_at{0};                          // by the stopwatch
  };

  Progress OnStepDone(absl::StatusOr<LogManifest> result, LogThread& thread);
  void BeginLastStep(LogThread& thread);
  void Finish(LogThread& thread);
  Progress Fail(absl::Status why, const LogThread& thread);
  void NoteLeftovers(std::vector<LogFile>& files) const;

  Engine& engine_;
  LogDirectory& directory_;
  Dataset& dataset_;
  const Log& log_;
  const std::function<void()> on_progress_;

  std::unique_ptr<Rewrite> rewrite_;  // null: none
  bool left_unnamed_file_ = false;

  // The largest numbers that a rewrite of this log has used, completed or not. No other uses them:
  // if the last sync of a step fails, the manifest on the disk may name files that the one in
  // memory does not.
  uint64_t last_base_ = 0;
  uint64_t last_incremental_ = 0;

  // Files of failed rewrites: those that no manifest names, and those that the manifest on the disk
  // may name, which are removed after the next rewrite.
  std::vector<LogFile> unnamed_;
  std::vector<LogFile> perhaps_named_;

  uint64_t base_bytes_ = 0;         // of the base
  uint64_t incremental_bytes_ = 0;  // of the incremental files except the present one
  uint64_t bytes_after_rewrite_ = 0;

  uint64_t rewrites_ = 0;
  uint64_t failures_ = 0;           // in a row
  uint64_t failed_beginnings_ = 0;  // in a row
  bool last_ok_ = true;
  std::optional<Micros> last_took_;
  Micros last_try_at_{0};  // by the stopwatch
};

}  // namespace zsetd
