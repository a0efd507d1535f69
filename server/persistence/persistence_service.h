#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/engine/engine.h"
#include "server/engine/services/background_task.h"
#include "server/engine/services/log_control.h"
#include "server/engine/services/snapshot_control.h"
#include "server/persistence/file/data_directory.h"
#include "server/persistence/file/file.h"
#include "server/persistence/log/append_log.h"
#include "server/persistence/snapshot/dataset.h"
#include "server/persistence/snapshot/kept_libraries.h"
#include "server/persistence/snapshot/load_turns.h"
#include "server/persistence/snapshot/received_snapshot.h"
#include "server/persistence/snapshot/snapshot_loader.h"
#include "server/persistence/snapshot_service.h"

namespace zsetd {

// Keeps the data on disk: in snapshots, in an append-only log, in both or in neither, as
// configured. A snapshot and a rewrite of the log never run at the same time.
class PersistenceService : public SnapshotControl, public LogControl, public BackgroundTask {
 public:
  // The engine, files and log outlive this. `on_progress` is called on another thread when held
  // replies can be sent, or HasWork() becomes true. A call may come shortly after the destructor.
  // It may be null.
  PersistenceService(Engine& engine, FileSystem& files, const Log& log,
                     std::function<void()> on_progress = nullptr);
  ~PersistenceService() override;

  // Locks the directory if the settings let the server write there. Both kinds of start do so, too.
  absl::Status LockDirectory();

  // Called at the server's start. Locks the directory. Loads the log if it is on and exists, else
  // the snapshot if it exists. An error is human-readable and leaves the files unchanged, except
  // for a truncated end of the log. If the log is on and does not exist yet, the snapshot's data
  // becomes its base, so no data on the disk is lost.
  absl::Status Start();

  // Like Start(), but loads while requests are served. Calls `on_loaded` with the result, from
  // Tick() or, if the load is short, from this function. After an error nothing was started. If the
  // service is destroyed before the end of the load, the files stay unchanged.
  using OnLoaded = std::function<void(const absl::Status&)>;
  absl::Status StartInBackground(OnLoaded on_loaded);

  // Creates a file for a snapshot that a master will send.
  absl::StatusOr<std::unique_ptr<ReceivedSnapshot>> ReceiveSnapshot();

  // Reads a received snapshot completely in the background and changes nothing. The result is OK if
  // StartReplacing() can load the snapshot. Tick() calls `on_checked`. The snapshot outlives the
  // check.
  using OnChecked = std::function<void(absl::StatusOr<CheckedSnapshot>)>;
  void StartChecking(const ReceivedSnapshot& snapshot, OnChecked on_checked);
  bool IsChecking() const { return check_ != nullptr; }

  // Cancels the check without a call of `on_checked`.
  void AbandonChecking();

  // Replaces the functions with those of a checked snapshot. After an error nothing was changed.
  absl::Status TakeFunctions(const ReceivedSnapshot& snapshot, const CheckedSnapshot& checked);

  // Replaces the data with a received snapshot in the background. With `keeps_data`, requests are
  // served from the old data until the new data is loaded. A snapshot that cannot be loaded then
  // leaves the old data. Without it, the old data is dropped first, and requests get LOADING. The
  // append-only log ends with the old data and begins again with the new data.
  //
  // `checked` is the result of StartChecking() for this snapshot. Data that is neither kept nor
  // empty is dropped only after a check: then only a file that cannot be read again loses the data.
  //
  // Preconditions: no other load is running; if data is dropped, TakeFunctions() has succeeded.
  // Tick() calls `on_replaced`; if the load takes a few milliseconds only, this function calls it.
  struct Replacement {
    bool keeps_data = false;
    std::optional<CheckedSnapshot> checked;
  };
  using OnReplaced = std::function<void(const absl::Status&)>;
  void StartReplacing(std::unique_ptr<ReceivedSnapshot> snapshot, Replacement replacement,
                      OnReplaced on_replaced);
  bool IsReplacing() const { return replaced_by_ != nullptr; }

  // Cancels the replacement. Without `keeps_data`, no data remains.
  void AbandonReplacing();

  // Begins the append-only log again with the present data, if a replacement has ended it. A
  // successful replacement does this itself.
  void ResumeLog();

  // Whether the append-only log on the disk is valid: a restart can load all durable changes from
  // it.
  bool IsLogComplete() const { return append_log_.IsKept() && !append_log_.IsBeginning(); }

  // The place in a history that the last loaded snapshot contains; nullopt if a log was loaded.
  const std::optional<HistoryPlace>& loaded_position() const { return loaded_position_; }

  // Takes a snapshot of this instant for replicas in the background. Preconditions: no unit is
  // open, and no other snapshot is being taken. `sink` receives the bytes on another thread and
  // must not wait there. Encoding pauses while `is_full` returns true.
  void StartTransfer(std::unique_ptr<SnapshotSink> sink, const SnapshotContents& contents,
                     std::function<bool()> is_full);
  bool IsTransferring() const { return transfer_ != nullptr; }

  // Cancels the transfer: no more bytes are written to the sink.
  void AbandonTransfer() { transfer_.reset(); }

  // Returns the result of the last transfer once.
  std::optional<absl::Status> TakeTransferResult() { return std::exchange(transfer_result_, {}); }

  // Whether the final snapshot was saved. After that, only changes advance the history.
  bool IsSavedForExit() const { return snapshots_.IsSavedForExit(); }

  // Whether a snapshot is being taken or loaded for any purpose.
  bool IsBusy() const { return IsSaving() || IsRewriting() || IsReplacing(); }

  // Reads and writes the data as files.
  Dataset& dataset() { return dataset_; }
  DataDirectory& directory() { return directory_; }

  // Saves the changes that were made after SaveBeforeExit(). Must be called at the server's end,
  // after the last requests.
  void SaveTheRest();

  std::optional<LoadingStatus> loading() const override;
  SnapshotStatus snapshot_status() const override;
  LogStatus log_status() const override;
  void ResetStats() override {
    snapshots_.ResetStats();
    append_log_.ResetStats();
  }
  absl::Status Save() override;
  bool IsSaving() const override { return snapshots_.IsSaving() || IsTransferring(); }
  absl::Status StartSaving() override;
  void ScheduleSaving() override { saving_scheduled_ = true; }
  bool IsRewriting() const override { return append_log_.IsRewriting(); }
  absl::Status StartRewriting() override;
  void ScheduleRewriting() override { rewriting_scheduled_ = true; }
  absl::Status SaveBeforeExit(bool must_save, bool may_not) override;
  void OnFlushAll() override;
  void SaveFlushed() override;
  absl::Status LoadAgain(const ReloadOptions& reload) override;
  absl::Status LoadLogAgain() override;
  absl::Status Apply(const Settings& settings) override;
  uint64_t WrittenPosition() const override { return append_log_.end(); }
  uint64_t DurablePosition() const override { return append_log_.durable(); }
  uint64_t ReleasedPosition() const override { return append_log_.released(); }
  bool MayBeLost(uint64_t position) const override { return append_log_.MayBeLost(position); }
  void Tick(Micros budget) override;
  bool HasWork() const override;
  void EndRound() override;

 private:
  absl::Status SwitchLog(bool on, const std::string& directory);
  absl::Status SwitchLogAfterUnit(bool on, const std::string& directory);
  absl::Status LoadAgainInTransaction(const ReloadOptions& reload);
  absl::Status LoadAll();
  void ContinueLoading();
  void LoadFor(std::chrono::milliseconds time);
  void ContinueChecking();
  void FinishReplacing(const absl::Status& status);
  absl::Status Replace(const std::string& path);
  void EndLog();
  void ConsiderBeginningLog();
  absl::Status BeginLog(const std::string& directory);
  absl::Status BeginDueLog();
  void NoteFailedBegin(const absl::Status& why);
  void ForgetFailedBegin();
  void ScheduleLog();
  absl::Status CompleteLog();
  bool FinishLog();
  void FlushLog();
  void MakeWayForSnapshot();
  void MakeWayForLog();
  bool MayContinueTransfer() const;
  void ContinueTransfer();

  Engine& engine_;
  FileSystem& files_;
  const Log& log_;
  const std::function<void()> on_progress_;
  DataDirectory directory_;
  KeptLibraries kept_libraries_;
  Dataset dataset_;
  SnapshotService snapshots_;
  AppendLog append_log_;
  bool saving_scheduled_ = false;
  bool rewriting_scheduled_ = false;
  // Whether the log is on but does not exist: a master's snapshot has ended it, or its first
  // rewrite waits for the end of another snapshot.
  bool log_is_missing_ = false;
  bool log_is_due_ = false;             // the log begins when no snapshot is being taken
  std::optional<bool> next_log_state_;  // set in a transaction: on or off after it
  // When the due log could not begin, by the stopwatch; nullopt: it has not failed.
  std::optional<Micros> log_failed_at_;
  std::unique_ptr<BackgroundSnapshot> transfer_;  // null: none
  std::function<bool()> is_transfer_full_;
  std::optional<absl::Status> transfer_result_;
  Millis loading_since_{0};
  OnLoaded on_loaded_;
  std::optional<HistoryPlace> loaded_position_;
  uint64_t received_ = 0;                          // snapshots, so far
  std::unique_ptr<ReceivedSnapshot> replaced_by_;  // null: nothing is being replaced
  Replacement replacement_;                        // the options of the replacement
  OnChecked on_checked_;
  absl::StatusOr<CheckedSnapshot> checked_;  // used by the check's thread until it is done
  std::unique_ptr<LoadTurns> check_;         // null: none
  std::unique_ptr<LoadTurns> load_;  // null: none; `check_` and `load_` use the members above
  const Installation snapshot_control_;
  const Installation log_control_;
  const Installation task_;
};

}  // namespace zsetd
