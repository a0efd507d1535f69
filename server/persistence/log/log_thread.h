#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "protocol/resp/output_buffer.h"
#include "server/persistence/file/file.h"
#include "server/persistence/log/job_thread.h"
#include "server/persistence/log/log_manifest.h"

namespace zsetd {

// When the log is synced to the disk.
enum class SyncPolicy { kAlways, kEverySecond, kNever };

// The progress of the log. Positions count the bytes that were appended since the start.
struct LogProgress {
  uint64_t written = 0;  // all before this position is in a file
  uint64_t durable = 0;  // all before this position survives a crash of the machine

  // Why the last write or sync failed; OK if it did not. A write is retried every second, and
  // `is_retrying` is true until it succeeds.
  absl::Status write_error = absl::OkStatus();
  bool is_retrying = false;

  // A sync has failed, so that it is unknown what is on the disk after `durable`: the system may
  // have dropped it. Only a new base with a new file repairs that.
  bool is_broken = false;

  uint64_t file_bytes = 0;  // of the file that is appended to
};

// A change of the files of the log, done in order with the appended units. After any crash, the
// manifest on the disk names files that exist completely.
struct LogStep {
  // The file that the log continues in; empty: the present one. The present one is synced first. If
  // the log is broken it is not, and only a step with a new file and no manifest can be done.
  std::string next_file;

  // The new manifest. Without one, the new file does not count before a later step names it, and
  // its contents are not durable until then.
  std::optional<LogManifest> manifest;

  std::vector<std::string> removed;  // files that are not needed any more
};

// Writes and syncs the append-only log. All methods are for one thread, the caller's. Three threads
// take part, so that only replies that depend on the disk wait for it:
//
//   caller's   writes units directly while no sync and no step is under way (not with kAlways)
//   log's      writes all other units; with kAlways it also syncs
//   jobs'      syncs with kEverySecond, does the steps, and starts to write back between syncs
//
// The kernel may block a write to a file that is being synced until the sync ends. Therefore the
// caller's thread does not write then; the log's thread does, and signals when the write returns.
// With kEverySecond the kernel is asked to write back after each megabyte, except the end of the
// file, which the next write touches. So a sync has little left to do, and rarely blocks a write.
//
// With kAlways all units that arrive during a sync are written and synced together after it (group
// commit). Clients that wait for a sync send their next request when it ends, a moment after the
// next sync could begin with the units of the other clients:
//
//   no delay         [ a b c ][ d e ][ a b c ][ d e ]               each waits for two syncs
//   a little later   [ a b c ] . [ a b c d e ] . [ a b c d e ]      for one and a bit
//
// So a sync is delayed until as many units have arrived as were waiting and are released, or for
// half of the time that a sync takes, or ten milliseconds. If waiting did not help, it is retried
// occasionally.
class LogThread {
 public:
  struct Options {
    std::string directory;      // of the log, absolute
    std::string manifest_name;  // of the file in it
    SyncPolicy policy = SyncPolicy::kEverySecond;
    std::function<void()> on_progress;           // called on another thread; or null
    std::chrono::milliseconds longest_wait{10};  // of a sync for units to come
  };

  // Appends to `file`, which holds this many bytes; null: no file before the first step.
  LogThread(FileSystem& files, Options options, std::unique_ptr<WritableFile> file,
            uint64_t file_bytes);
  LogThread(const LogThread&) = delete;

  // Writes and syncs the appended units if possible.
  ~LogThread();

  // Appends whole units, and how many they are. Writes them if that is unlikely to block;
  // otherwise LogProgress::written follows.
  void Append(OutputBuffer bytes, size_t units = 1);

  // Does a step, when all that was appended before is written. One at a time: until its result is
  // taken.
  void Do(LogStep step);
  std::optional<absl::Status> TakeStepResult();

  void set_policy(SyncPolicy policy);

  LogProgress progress() const;

  // Bytes that were handed over and are not in a file yet.
  uint64_t waiting() const;

  // For how long something has been waiting for a sync; zero: nothing is.
  std::chrono::milliseconds unsynced_for() const;

  // Waits until all steps are done, and all that was appended is durable or cannot be: whether it
  // is.
  bool Flush();

 private:
  using Clock = std::chrono::steady_clock;
  struct Units {
    OutputBuffer bytes;
    size_t count = 0;
  };
  using Item = std::variant<Units, LogStep>;
  enum class Job { kNone, kWriteBack, kSync, kStep };
  struct StepResult {
    absl::Status status;
    std::unique_ptr<WritableFile> next;  // null: the file stays
    bool is_synced = false;              // the present file
    bool is_broken = false;              // its sync has failed, or the manifest is uncertain
  };

  void Run();
  bool WaitForWork(std::unique_lock<std::mutex>& lock);
  std::optional<Clock::time_point> NextAttempt() const;
  bool IsSyncDue() const;
  bool IsWriteBackDue() const;
  bool CanWrite() const;
  bool CanWriteDirectly() const;
  bool WriteDirectly(const OutputBuffer& bytes);
  bool LacksUnits() const { return queued_ < expected_; }
  void AwaitUnits(std::unique_lock<std::mutex>& lock);
  bool WriteItems(std::unique_lock<std::mutex>& lock);
  absl::Status WriteUnits(const OutputBuffer& units, uint64_t file_bytes, bool& is_cut);
  void OnWritten(uint64_t bytes);
  void OnWriteFailed(absl::Status why, bool is_cut);
  uint64_t BeginSync();
  void EndSync(const absl::Status& status, uint64_t position);
  void Sync(std::unique_lock<std::mutex>& lock);
  void StartSync();
  void StartWriteBack();
  void StartStep(LogStep step);
  StepResult DoStep(const LogStep& step, WritableFile* file, bool was_broken) const;
  void EndStep(const LogStep& step, StepResult result, uint64_t position);
  void EndJob(const std::function<void()>& note);
  void Notify(std::unique_lock<std::mutex>& lock);

  FileSystem& files_;
  const Options options_;

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::condition_variable progressed_;
  std::unique_ptr<WritableFile> file_;  // null before the first step, if there was none

  // A job uses `file_` without the mutex. So does the log's thread while it writes the front of the
  // queue, which is not empty then. The job that replaces `file_` excludes both.
  Job job_ = Job::kNone;
  bool is_changing_file_ = false;
  SyncPolicy policy_;
  std::deque<Item> queue_;
  uint64_t appended_ = 0;  // position
  LogProgress progress_;
  bool is_named_ = true;  // the manifest on the disk names the present file

  // In units: in the queue, written since the last sync, and how many are to come before the next.
  size_t queued_ = 0;
  size_t unsynced_ = 0;
  size_t expected_ = 0;
  bool is_awaiting_ = false;
  Clock::duration patience_{0};  // after the last sync
  int failed_waits_ = 0;         // one after another
  uint64_t syncs_ = 0;

  std::optional<Clock::time_point> unsynced_since_;  // without what a sync under way covers:
  std::optional<Clock::time_point> syncing_since_;   // since when that was unsynced
  Clock::time_point synced_at_;
  Clock::time_point retry_at_;
  Clock::time_point direct_from_;  // the time of the next direct write after a slow one
  uint64_t written_back_ = 0;      // of the file: the system was asked to write all before this
  std::optional<absl::Status> step_result_;
  size_t steps_ahead_ = 0;  // not done yet
  bool flushing_ = false;
  bool stopping_ = false;
  JobThread jobs_;      // it uses the members above
  std::thread thread_;  // last: it uses all others
};

}  // namespace zsetd
