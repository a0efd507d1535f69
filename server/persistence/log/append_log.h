// The append-only log: every unit of changes is appended to a file. A start of the server runs the
// units again.
//
//   engine ──units──► AppendLog ──each round──► LogThread ──► appendonlydir/…incr.aof
//                        └─────────────► LogRewriter ──► appendonlydir/…base.rdb
//
// Files and manifest have the layout of Redis 7 (server/persistence/log/log_manifest.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/util/time.h"
#include "server/engine/engine.h"
#include "server/engine/propagation/journal.h"
#include "server/engine/services/log_control.h"
#include "server/persistence/file/data_directory.h"
#include "server/persistence/file/file.h"
#include "server/persistence/log/log_directory.h"
#include "server/persistence/log/log_replay.h"
#include "server/persistence/log/log_rewriter.h"
#include "server/persistence/log/log_thread.h"
#include "server/persistence/snapshot/dataset.h"

namespace zsetd {

class AppendLog : public Journal {
 public:
  // The arguments outlive this. `on_progress` is called on another thread when more bytes are
  // written or durable, or a write or sync has failed; it may be null.
  AppendLog(Engine& engine, FileSystem& files, DataDirectory& directory, Dataset& dataset,
            const Log& log, std::function<void()> on_progress);
  ~AppendLog() override;

  // Locks this directory and keeps the log there until Disable(), even if the setting `dir`
  // changes: the files of a log must be together. Must be called before Load() and Create(). An
  // error is human-readable.
  absl::Status StayIn(const std::string& directory);

  // Used at the start. Returns whether a log exists on the disk.
  absl::StatusOr<bool> Exists() const { return directory_.HasLog(); }

  // Loads the log and continues to append to it. An error is human-readable.
  absl::Status Load();

  // Creates a log whose base is the engine's data, in the foreground.
  absl::Status Create();

  // Enable() begins a log in the background while the server runs (CONFIG SET appendonly yes).
  // Disable() ends the log. Prepare() checks in advance whether the directory is usable. The
  // argument is the absolute path of the data directory.
  absl::Status Prepare(const std::string& directory);
  absl::Status Enable(const std::string& directory);
  void Disable();

  // Writes a log of the present data in the background, then disables the log. The log is off.
  absl::Status WriteOnce();

  // Replaces the engine's data with the contents of the present files. Precondition: no snapshot is
  // being taken for a rewrite.
  absl::Status LoadAgain();
  bool IsOn() const { return thread_ != nullptr; }
  bool IsKept() const { return IsOn() && !ends_after_rewrite_; }

  uint64_t Append(OutputBuffer& unit) override;

  // Writes the appended units, or hands them to the log's thread. Must be called before replies are
  // sent. When the reply of CONFIG SET is sent, the new settings apply.
  void EndRound();

  // Positions count the bytes appended since the start. A reply is sent when the changes of its
  // request are before released(): the end of the written bytes, or durable() with appendfsync
  // always and while the disk does not keep up. After a failed write replies are sent as well, as
  // in Redis, and further writes are refused.
  uint64_t end() const { return end_; }
  uint64_t durable() const;
  uint64_t released() const;

  // Whether the unit that ends at this position may be missing on the disk because a sync has
  // failed.
  bool MayBeLost(uint64_t position) const { return is_repairing_ && position > durable(); }

  LogStatus status() const;
  void ResetStats() {
    delayed_syncs_ = 0;
    rewriter_.ResetStats();
  }

  // Starts a rewrite in the background. Precondition: no rewrite is running, and no snapshot is
  // being taken.
  void StartRewriting();
  bool IsRewriting() const { return rewriter_.IsUnderWay(); }

  // Cancels the running rewrite, if its snapshot is still being taken, so that another snapshot can
  // start. Returns whether it canceled one.
  bool AbandonRewriting() { return rewriter_.Abandon(); }

  // Whether a rewrite must be started, because there is no valid log without it.
  // ConsiderRewriting() starts it.
  bool MustBegin() const { return rewriter_.LeftUnnamedFile() || is_repairing_; }

  // Whether the files on the disk lack the appended units until a rewrite is complete.
  bool IsBeginning() const { return MustBegin() || rewriter_.IsBeginning(); }

  // Whether the rewrite that repairs the log must start now, even if another snapshot has to be
  // canceled. Writes are refused until it is complete. Only the first try is that urgent.
  bool MustRepairNow() const {
    return is_repairing_ && !IsRewriting() && rewriter_.IsFirstBeginning();
  }

  // Starts a rewrite if the log has grown past the configured limit, or is broken.
  void ConsiderRewriting();

  // Continues a running rewrite, and checks the progress of the log's thread.
  void Continue();
  bool HasWork() const { return rewriter_.HasWork(); }

  // Continues a rewrite without which no valid log exists until it has ended. Returns whether the
  // log is valid or off. It is not if the rewrite has failed or is not running, or if the disk does
  // not accept writes. Takes as long as a snapshot.
  bool WaitForBase();

  // Waits until all appended units are on the disk. Returns false if that has failed.
  bool Flush();

 private:
  absl::Status StartThread(std::unique_ptr<WritableFile> file, uint64_t bytes);
  void ApplySettings();
  void ApplyNewPolicy() {
    if (Policy() != policy_) ApplySettings();
  }
  absl::Status StartNewFile();
  absl::Status SettleIn(const std::string& directory);
  void Leave();
  void StartRewriting(bool keeps_old_files);
  void OnRewriteEnded(LogRewriter::Progress progress);
  void SubmitToThread();
  void NoteUnwritten(const LogProgress& progress);
  void WatchDisk();
  bool HasNoBase() const;
  SyncPolicy Policy() const;

  Engine& engine_;
  DataDirectory& data_;
  Dataset& dataset_;
  const Log& log_;
  const std::function<void()> on_progress_;

  LogDirectory directory_;
  std::unique_ptr<LogThread> thread_;  // null: there is no log
  OutputBuffer pending_;               // not handed to the thread yet
  size_t pending_units_ = 0;           // the number of units in `pending_`
  uint64_t end_ = 0;
  uint64_t thread_start_ = 0;                     // the position at which the thread's count began
  int64_t stamped_at_ = 0;                        // the time of the last timestamp, in seconds
  SyncPolicy policy_ = SyncPolicy::kEverySecond;  // the thread's
  bool is_behind_ = false;                        // the disk does not keep up
  bool is_repairing_ = false;  // after a failed sync, until there are a new base and a new file
  bool ends_after_rewrite_ = false;
  absl::Status write_error_ = absl::OkStatus();
  uint64_t delayed_syncs_ = 0;
  LogRewriter rewriter_;
};

}  // namespace zsetd
