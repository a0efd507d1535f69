// The append-only log: every unit of changes is appended to a file, and a start runs them again.
//
//   engine ──units──► AppendLog ──each round──► LogThread ──► appendonlydir/…incr.aof
//                        └─────────────► LogRewriter ──► appendonlydir/…base.rdb
//
// Files and manifest are those of Redis 7 (server/persistence/log/log_manifest.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/util/time.h"
#include "server/engine/engine.h"
#include "server/engine/propagation/journal.h"
#include "server/engine/services.h"
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
  // All of them outlive it. `on_progress` is called on another thread when more has become durable,
  // or no more will; it may be null.
  AppendLog(Engine& engine, FileSystem& files, DataDirectory& directory, Dataset& dataset,
            const ServerLog& log, std::function<void()> on_progress);
  ~AppendLog() override;

  // At the start. Whether there is a log on the disk to load.
  absl::StatusOr<bool> Exists() const { return directory_.HasLog(); }

  // Loads it, and continues to append to it. A refusal is human-readable.
  absl::Status Load();

  // Begins a log with what the engine holds as its base, in the foreground.
  absl::Status Create();

  // Begins one in the background while the server runs (CONFIG SET appendonly yes), and ends it.
  // Prepare() checks in advance whether the directory allows it.
  absl::Status Prepare();
  absl::Status Enable();
  void Disable();

  // Writes a log of this instant in the background while the log is off, and ends it.
  absl::Status WriteOnce();

  // Replaces the engine's data by that of the present files. Precondition: no snapshot is being
  // taken for a rewrite.
  absl::Status LoadAgain();
  bool IsOn() const { return thread_ != nullptr; }
  bool IsKept() const { return IsOn() && !ends_after_rewrite_; }

  uint64_t Append(OutputBuffer& unit) override;

  // Writes the appended units, or hands them to the log's thread. Must be called before replies are
  // sent.
  void EndRound();

  // Positions count the bytes appended since the start. A reply may leave when its request's
  // changes are written; with appendfsync always, and while the disk does not keep up, when they
  // are durable. If the write fails it leaves too, as in Redis, and further writes are refused.
  uint64_t end() const { return end_; }
  uint64_t durable() const;
  uint64_t released() const;

  // Whether what ends there was written before a sync failed, so that it is unknown whether it is
  // on the disk.
  bool MayBeLost(uint64_t position) const { return is_repairing_ && position > durable(); }

  LogStatus status() const;
  void ResetStats() { delayed_syncs_ = 0; }

  // Rewriting in the background. None is under way, and no snapshot is being taken.
  void StartRewriting();
  bool IsRewriting() const { return rewriter_.IsUnderWay(); }

  // Gives up the rewrite that is under way, if its snapshot is still being taken: whether it was.
  // To make way for another snapshot.
  bool AbandonRewriting() { return rewriter_.Abandon(); }

  // Whether there is no valid log before a rewrite is complete, which ConsiderRewriting() begins.
  bool MustBegin() const { return rewriter_.LeftUnnamedFile() || is_repairing_; }

  // Whether the files on the disk lack the appended units until a rewrite is complete.
  bool IsBeginning() const { return MustBegin() || rewriter_.IsBeginning(); }

  // Whether that is to begin now, even if another snapshot has to be given up for it: writes are
  // refused until then. Only the first try is that urgent.
  bool MustRepairNow() const {
    return is_repairing_ && !IsRewriting() && rewriter_.IsFirstBeginning();
  }

  // Begins one if the log has grown as far as the settings say, or is broken.
  void ConsiderRewriting();

  // The settings may have changed.
  void ApplySettings();

  // Takes a rewrite further, and looks after the disk's thread.
  void Continue();
  bool HasWork() const { return rewriter_.HasWork(); }

  // Waits until all is on the disk. False if that has failed.
  bool Flush();

 private:
  void StartThread(std::unique_ptr<WritableFile> file, uint64_t bytes);
  absl::Status StartNewFile();
  void StartRewriting(bool keeps_old_files);
  void OnRewriteEnded(LogRewriter::Progress progress);
  void HandOver();
  void NoteUnwritten(const LogProgress& progress);
  void WatchDisk();
  bool HasNoBase() const;
  SyncPolicy Policy() const;

  Engine& engine_;
  DataDirectory& data_;
  Dataset& dataset_;
  const ServerLog& log_;
  const std::function<void()> on_progress_;

  LogDirectory directory_;
  std::unique_ptr<LogThread> thread_;  // null: there is no log
  OutputBuffer pending_;               // not handed over
  size_t pending_units_ = 0;           // in it
  uint64_t end_ = 0;
  uint64_t thread_start_ = 0;                     // the position at which the thread's count began
  int64_t stamped_at_ = 0;                        // seconds, of the last timestamp
  SyncPolicy policy_ = SyncPolicy::kEverySecond;  // the thread's
  bool is_behind_ = false;                        // the disk is
  bool is_repairing_ = false;  // after a failed sync, until there are a new base and a new file
  bool ends_after_rewrite_ = false;
  absl::Status write_error_ = absl::OkStatus();
  uint64_t delayed_syncs_ = 0;
  LogRewriter rewriter_;
};

}  // namespace zsetd
