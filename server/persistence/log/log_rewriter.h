#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "core/util/time.h"
#include "server/engine/engine.h"
#include "server/engine/services.h"
#include "server/persistence/file/data_directory.h"
#include "server/persistence/log/log_directory.h"
#include "server/persistence/log/log_thread.h"
#include "server/persistence/snapshot/background_snapshot.h"
#include "server/persistence/snapshot/dataset.h"

namespace zsetd {

// Rewrites the append-only log in the background: a snapshot of an instant takes the place of all
// commands up to it.
//
//   manifest   base 1, incr 1          base 1, incr 1, incr 2             base 2, incr 2
//   log        ──── incr 1 ────┬────────────────── incr 2 ───────────────────────────────
//                              └ the instant: base 2 is written ... complete ┘
//
// If the present files are not a valid log (none exists yet, or a sync has failed), the manifest
// names the new ones only when the base is complete.
class LogRewriter {
 public:
  // All of them outlive it. `on_progress` is called on another thread when HasWork() becomes true;
  // or null.
  LogRewriter(Engine& engine, LogDirectory& directory, Dataset& dataset, const ServerLog& log,
              std::function<void()> on_progress)
      : engine_(engine),
        directory_(directory),
        dataset_(dataset),
        log_(log),
        on_progress_(std::move(on_progress)) {}

  // The instant is now: between two units, all of which were handed to the thread. None is under
  // way, and no snapshot is being taken.
  void Start(LogThread& thread, bool keeps_old_files);

  bool IsUnderWay() const { return rewrite_ != nullptr; }

  // Whether one is under way without which there is no valid log.
  bool IsBeginning() const { return rewrite_ != nullptr && !rewrite_->keeps_old_files; }

  // Whether the log continues in a file that no manifest names, because the rewrite that would have
  // named it has failed. The next rewrite must begin the log.
  bool LeftUnnamedFile() const { return left_unnamed_file_; }

  // Whether Continue() has something to encode, or to complete.
  bool HasWork() const;

  // Takes it further. The thread is the one that it was started with.
  enum class Progress { kNone, kDone, kFailed };
  Progress Continue(LogThread& thread);

  // Gives it up if its snapshot is still being taken, to make way for another: whether it was.
  bool Abandon();

  // Cancels the running rewrite. It stays under way until the thread has completed its present
  // step. The units written since its start are kept: the new file follows the old ones.
  void GiveUp(absl::Status why);

  // Forgets it: the log ends.
  void Reset();

  // Whether it is time to begin a log: immediately at first, and after a pause if the last try to
  // begin it has failed. Failures of other rewrites do not count. None is under way.
  bool IsTimeToBegin() const;
  bool IsFirstBeginning() const { return failed_beginnings_ == 0; }

  // By how many percent a log of this many bytes has grown, if it is time to rewrite it. A failure
  // is followed by a pause. None is under way.
  std::optional<uint64_t> GrowthToRewrite(uint64_t bytes) const;

  // The size of the files that the manifest names, except the last one; and the size of the log
  // after the last rewrite, or after loading.
  uint64_t old_bytes() const { return base_bytes_ + incremental_bytes_; }
  uint64_t bytes_after_rewrite() const { return bytes_after_rewrite_; }
  void SetBytes(uint64_t base, uint64_t incremental) {
    bytes_after_rewrite_ = base_bytes_ = base;
    incremental_bytes_ = incremental;
  }

  // Sets the figures of rewriting.
  void Describe(LogStatus& status) const;

 private:
  struct Rewrite {
    std::unique_ptr<BackgroundSnapshot> snapshot;  // null: it is complete, or given up
    uint64_t base_bytes = 0;                       // once it is complete
    absl::Status given_up;                         // why; OK: it is not
    LogManifest next;                              // when it is complete
    LogManifest meanwhile;                         // while the base is written
    uint64_t old_bytes = 0;                        // of the file that ended with it
    bool keeps_old_files = true;                   // the log is valid without the new base
    bool is_waiting = true;                        // for the thread: a step is under way
    bool is_finishing = false;                     // and it is the last one
    Millis started_at{0};
  };

  Progress OnStepDone(const absl::Status& status, LogThread& thread);
  void BeginLastStep(LogThread& thread);
  void Finish(LogThread& thread);
  Progress Fail(absl::Status why);

  Engine& engine_;
  LogDirectory& directory_;
  Dataset& dataset_;
  const ServerLog& log_;
  const std::function<void()> on_progress_;

  std::unique_ptr<Rewrite> rewrite_;  // null: none
  bool left_unnamed_file_ = false;
  uint64_t base_bytes_ = 0;         // of the base
  uint64_t incremental_bytes_ = 0;  // of incremental files before the present one
  uint64_t bytes_after_rewrite_ = 0;

  uint64_t rewrites_ = 0;
  uint64_t failures_ = 0;           // one after the other
  uint64_t failed_beginnings_ = 0;  // one after the other
  bool last_ok_ = true;
  std::optional<Millis> last_took_;
  Millis last_try_at_{0};
};

}  // namespace zsetd
