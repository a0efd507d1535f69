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
#include "absl/status/statusor.h"
#include "protocol/resp/output_buffer.h"
#include "server/persistence/file/file.h"
#include "server/persistence/log/job_thread.h"
#include "server/persistence/log/log_manifest.h"

namespace zsetd {

// The policy for syncing the log to the disk (the setting `appendfsync`).
enum class SyncPolicy { kAlways, kEverySecond, kNever };

// The progress of the log. Positions count the bytes appended since the start.
struct LogProgress {
  // All bytes before this position are in a file. If the file could not take some of them, they are
  // in no file until the log is repaired.
  uint64_t written = 0;
  uint64_t durable = 0;  // all bytes before this position survive a crash of the machine

  // The error of the last write or sync, or OK. A failed write is retried every second;
  // `is_retrying` is true until it succeeds.
  absl::Status write_error = absl::OkStatus();
  bool is_retrying = false;

  // A sync has failed, so the system may have dropped any bytes after `durable`; or a failed write
  // has left a part of a unit that could not be removed. Only a new base with a new file repairs
  // the log.
  bool is_broken = false;

  uint64_t file_bytes = 0;  // the size of the present file
};

// A change of the files of the log, done in order with the appended units. After any crash, all
// files that the manifest on the disk needs exist and are complete.
struct LogStep {
  // The file in which the log continues; empty: the present file. The present file is synced first.
  // If the log is broken, the present file is not synced, and only a step with a new file and
  // without a manifest is possible. Units before it that the present file cannot take are dropped.
  std::string next_file;

  // The new manifest, whose history files are removed when it is durable. Without it, the new file
  // is not part of the log until a later step names it. Its contents are not durable until then.
  std::optional<LogManifest> manifest;

  std::vector<LogFile> removed;  // files that no manifest names
};

// Writes and syncs the append-only log. Only the caller's thread may call its methods. Three
// threads share the work, so that only replies that depend on the disk wait for it:
//
//   caller's   writes units directly while no sync and no step is under way (not with kAlways)
//   log's      writes all other units; with kAlways it also syncs
//   jobs'      syncs with kEverySecond, does the steps, and starts to write back between syncs
//
// The kernel may block a write to a file that is being synced until the sync ends. Therefore the
// caller's thread does not write during a sync. The log's thread writes instead, and signals when
// the write returns. With kEverySecond the kernel is asked to write back after each megabyte,
// except the end of the file, which the next write changes. So a sync has little left to do and
// rarely blocks a write.
//
// With kAlways all units that arrive during a sync are written and synced together after it (group
// commit). A client that waits for a sync sends its next request when the sync ends. If the next
// sync starts immediately, it covers only the units of the other clients, and the request has to
// wait for the sync after it:
//
//   no delay         [ a b c ][ d e ][ a b c ][ d e ]               each waits for two syncs
//   a little later   [ a b c ] . [ a b c d e ] . [ a b c d e ]      for one and a bit
//
// So a sync waits until the queue has as many units as the last sync released plus those that
// arrived during it. It waits for at most half of the duration of the last sync, and at most ten
// milliseconds. If waiting did not help, it is retried occasionally.
class LogThread {
 public:
  struct Options {
    std::string directory;      // the directory of the log, absolute
    std::string manifest_name;  // the name of the manifest's file in it
    SyncPolicy policy = SyncPolicy::kEverySecond;
    std::function<void()> on_progress;           // called on another thread; or null
    std::chrono::milliseconds longest_wait{10};  // the longest wait of a sync for more units
  };

  // Appends to `file`, whose size is `file_bytes`. Null: the first step creates the file.
  LogThread(FileSystem& files, Options options, std::unique_ptr<WritableFile> file,
            uint64_t file_bytes);
  LogThread(const LogThread&) = delete;

  // Starts the log's thread and the jobs' thread. Must succeed before any other call.
  absl::Status Start();

  // Writes and syncs the appended units, unless that fails.
  ~LogThread();

  // Appends `units` complete units. Writes them immediately if that is unlikely to block. Otherwise
  // the log's thread writes them, and LogProgress::written advances later.
  void Append(OutputBuffer bytes, size_t units = 1);

  // Do() starts a step when all units that were appended before it are written. TakeStepResult()
  // returns the result once, when the step is done: the manifest that the step has written, with
  // the history files that could not be removed. Without a manifest it is empty. Only one step is
  // possible at a time, until its result is taken.
  void Do(LogStep step);
  std::optional<absl::StatusOr<LogManifest>> TakeStepResult();

  void set_policy(SyncPolicy policy);

  LogProgress progress() const;

  // The number of appended bytes that are not in a file yet.
  uint64_t waiting() const;

  // The time for which the oldest unsynced bytes have been waiting for a sync; 0 if all are synced.
  std::chrono::milliseconds unsynced_for() const;

  // Waits until all steps are done and all appended units are durable, or a write or sync has
  // failed. Returns whether all units are durable.
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
    std::unique_ptr<WritableFile> next;  // null: the file does not change
    bool is_synced = false;              // the present file is synced
    bool is_broken = false;              // the sync has failed, or the manifest is uncertain
    LogManifest manifest;                // on the disk after the step
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
  absl::Status WriteUnits(const OutputBuffer& units, uint64_t file_bytes, bool& is_torn);
  void BringStepForward();
  void DropPassedUnits();
  void OnWritten(uint64_t bytes);
  void OnWriteFailed(absl::Status why);
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
  std::unique_ptr<WritableFile> file_;  // null: the first step creates it

  // A job uses `file_` without the mutex. The log's thread does that too while it writes the front
  // of the queue; the queue is not empty then. The job that replaces `file_` excludes both.
  Job job_ = Job::kNone;
  bool is_changing_file_ = false;
  SyncPolicy policy_;
  std::deque<Item> queue_;
  uint64_t appended_ = 0;  // the end position
  LogProgress progress_;
  bool is_named_ = true;  // whether the manifest on the disk names the present file
  bool is_torn_ = false;  // the present file ends with a part of a unit
  size_t passed_ = 0;     // items at the front that were appended before the step that is next

  // Numbers of units: in the queue, written since the last sync, and expected before the next sync.
  size_t queued_ = 0;
  size_t unsynced_ = 0;
  size_t expected_ = 0;
  bool is_awaiting_ = false;
  Clock::duration patience_{0};  // the wait for units after the last sync
  int failed_waits_ = 0;         // in a row
  uint64_t syncs_ = 0;

  // Since when bytes have been unsynced: bytes that the running sync does not cover, and bytes that
  // it covers.
  std::optional<Clock::time_point> unsynced_since_;
  std::optional<Clock::time_point> syncing_since_;
  Clock::time_point synced_at_;
  Clock::time_point retry_at_;
  Clock::time_point direct_from_;  // no direct write before this time, after a slow one
  uint64_t written_back_ = 0;      // the system was asked to write back the file up to here
  std::optional<absl::StatusOr<LogManifest>> step_result_;
  size_t steps_ahead_ = 0;  // steps that are not done yet
  bool flushing_ = false;
  bool stopping_ = false;
  JobThread jobs_;      // it uses the members above
  std::thread thread_;  // it uses all others
};

}  // namespace zsetd
