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
#include "server/persistence/log/log_manifest.h"

namespace zsetd {

// When what was written to the log is synced to the disk.
enum class SyncPolicy { kAlways, kEverySecond, kNever };

// How far the log has come. Positions count the bytes that were appended since the start.
struct LogProgress {
  uint64_t written = 0;  // all before this position is in a file
  uint64_t durable = 0;  // all before this position survives a crash of the machine

  // Why the last attempt to write failed, which is made again every second; OK if it did not.
  absl::Status write_error = absl::OkStatus();

  // A sync has failed, so that it is unknown what is on the disk after `durable`: the system may
  // have dropped it. Only a new base with a new file repairs that.
  bool is_broken = false;

  uint64_t file_bytes = 0;  // of the file that is appended to
};

// A change of the files that the log consists of, done in order with what is appended. Whichever
// crash comes, the manifest on the disk names files that are there whole.
struct LogStep {
  // The file that the log goes on in; empty: the present one. The present one is synced first. If
  // the log is broken it is not, and only a step with a new file can be done.
  std::string next_file;

  // The manifest from then on. Without one the new file counts for nothing before a later step
  // names it, and what is written to it is not durable until then.
  std::optional<LogManifest> manifest;

  std::vector<std::string> removed;  // files of no use any more
};

// Writes and syncs the append-only log on a thread of its own, so that nothing but a reply that has
// to wait for the disk waits for it. What comes while a sync is under way is written and synced
// together afterwards (group commit). All methods are for one thread, and none waits for the disk
// but the destructor.
//
// With kAlways, clients that wait for a sync send their next request when it ends, a moment after
// the next sync could begin with what the others have sent meanwhile:
//
//   at once          [ a b c ][ d e ][ a b c ][ d e ]               each waits for two syncs
//   a little later   [ a b c ] . [ a b c d e ] . [ a b c d e ]      for one and a bit
//
// So a sync is delayed until as many units have come as were waiting and are free again, or for
// half of the time that a sync takes, or ten milliseconds. Where that was in vain it is tried again
// now and then.
class LogThread {
 public:
  struct Options {
    std::string directory;      // of the log, absolute
    std::string manifest_name;  // of the file in it
    SyncPolicy policy = SyncPolicy::kEverySecond;
    std::function<void()> on_progress;           // called on the log's thread; or null
    std::chrono::milliseconds longest_wait{10};  // of a sync for units to come
  };

  // `file` is appended to, which holds this many bytes; null: there is none before the first step.
  LogThread(FileSystem& files, Options options, std::unique_ptr<WritableFile> file,
            uint64_t file_bytes);
  LogThread(const LogThread&) = delete;

  // Writes and syncs what was handed over, if that is possible.
  ~LogThread();

  // Appends whole units, and how many they are.
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

  void Run();
  bool WaitForWork(std::unique_lock<std::mutex>& lock);
  bool IsSyncDue() const;
  bool CanWrite() const;
  bool LacksUnits() const { return queued_ < expected_; }
  void AwaitUnits(std::unique_lock<std::mutex>& lock);
  void WriteItems(std::unique_lock<std::mutex>& lock);
  absl::Status WriteUnits(const OutputBuffer& units, uint64_t file_bytes);
  void Sync(std::unique_lock<std::mutex>& lock);
  void DoStep(LogStep step, std::unique_lock<std::mutex>& lock);
  void Notify(std::unique_lock<std::mutex>& lock);

  FileSystem& files_;
  const Options options_;
  std::unique_ptr<WritableFile> file_;  // the thread's own

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::condition_variable progressed_;
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

  std::optional<Clock::time_point> unsynced_since_;
  Clock::time_point synced_at_;
  Clock::time_point retry_at_;
  std::optional<absl::Status> step_result_;
  size_t steps_ahead_ = 0;  // not done yet
  bool flushing_ = false;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace zsetd
