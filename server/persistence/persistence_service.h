#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/engine/engine.h"
#include "server/engine/services.h"
#include "server/persistence/file/data_directory.h"
#include "server/persistence/file/file.h"
#include "server/persistence/log/append_log.h"
#include "server/persistence/snapshot/dataset.h"
#include "server/persistence/snapshot/load_turns.h"
#include "server/persistence/snapshot/received_snapshot.h"
#include "server/persistence/snapshot/snapshot_loader.h"
#include "server/persistence/snapshot_service.h"

namespace zsetd {

// Keeps the data on disk: in snapshots, in an append-only log, in both or in neither, as the
// settings say. At most one of a snapshot and a rewrite of the log is under way.
class PersistenceService : public Persistence {
 public:
  // The engine and the files outlive it. `on_progress` is called on another thread when replies
  // that were held may leave, or HasWork() becomes true, perhaps a moment after this is
  // destroyed; or null.
  PersistenceService(Engine& engine, FileSystem& files, ServerLog log,
                     std::function<void()> on_progress = nullptr);
  ~PersistenceService() override;

  // At the server's start: takes the directory for this process if it will write there, and loads
  // the log, or else the snapshot, if one exists. A refusal is human-readable and leaves the files
  // unchanged, except for a truncated end of the log. If the log is on and does not exist yet, the
  // snapshot becomes its base, so no data on the disk is lost.
  absl::Status Start();

  // Like Load(), but loads while requests are served. Calls `on_loaded` with the result, from
  // Tick() or, for little data, from this function. If it returns an error nothing was started. If
  // the service is destroyed before the end, the files stay unchanged.
  using OnLoaded = std::function<void(const absl::Status&)>;
  absl::Status StartInBackground(OnLoaded on_loaded);

  // A file for a snapshot that a master is going to send.
  absl::StatusOr<std::unique_ptr<ReceivedSnapshot>> ReceiveSnapshot();

  // Reads a snapshot that has been received to its end, in the background, and changes nothing. The
  // result is OK if StartReplacing() can load it. `on_checked` is called by Tick(). The snapshot
  // outlives the check.
  using OnChecked = std::function<void(absl::StatusOr<CheckedSnapshot>)>;
  void StartChecking(const ReceivedSnapshot& snapshot, OnChecked on_checked);
  bool IsChecking() const { return check_ != nullptr; }

  // Ends the check without a call of `on_checked`.
  void AbandonChecking();

  // Replaces the data with a snapshot that has been received, in the background. If the data is
  // kept, requests are served from the old data until the new data has been loaded, and a snapshot
  // that cannot be loaded leaves the old data. Otherwise the old data is dropped first, and
  // requests get LOADING. The append-only log ends with the old data, and begins again with the
  // new.
  //
  // `checked` is the result of StartChecking() for this snapshot. Data that is neither kept nor
  // empty is dropped only after a check: then only a file that cannot be read again loses the data.
  //
  // An error means that nothing was changed, and that nothing has begun. No other load is under
  // way. `on_replaced` is called by Tick() or, if the load takes a few milliseconds only, by this.
  struct Replacement {
    bool keeps_data = false;
    std::optional<CheckedSnapshot> checked;
  };
  using OnReplaced = std::function<void(const absl::Status&)>;
  absl::Status StartReplacing(std::unique_ptr<ReceivedSnapshot> snapshot, Replacement replacement,
                              OnReplaced on_replaced);
  bool IsReplacing() const { return replaced_by_ != nullptr; }

  // Gives that up: without data if it is not kept.
  void AbandonReplacing();

  // Begins the append-only log, if there is to be one, with the present data, where a snapshot that
  // could not be loaded has ended it.
  void ResumeLog();

  // Whether there is an append-only log that a restart would find with all that is durable in it.
  bool IsLogComplete() const { return append_log_.IsKept() && !append_log_.IsBeginning(); }

  // The place in a history that the last loaded snapshot contains; nullopt if a log was loaded.
  const std::optional<HistoryPlace>& loaded_position() const { return loaded_position_; }

  // Takes a snapshot of this instant for replicas, in the background: between two units, and not
  // while another is taken. `sink` gets it on another thread, and must not wait there; nothing is
  // encoded for it as long as `is_full` returns true.
  void StartTransfer(std::unique_ptr<SnapshotSink> sink, const SnapshotContents& contents,
                     std::function<bool()> is_full);
  bool IsTransferring() const { return transfer_ != nullptr; }

  // Gives it up: nothing more is written to the sink.
  void AbandonTransfer() { transfer_.reset(); }

  // How the last one ended: once.
  std::optional<absl::Status> TakeTransferResult() { return std::exchange(transfer_result_, {}); }

  // Whether the snapshot of the server's end was saved: the history then advances only by changes.
  bool IsSavedForExit() const { return snapshots_.IsSavedForExit(); }

  // Whether a snapshot is being taken or loaded, for whatever.
  bool IsBusy() const { return IsSaving() || IsRewriting() || IsReplacing(); }

  // The data as files have it.
  Dataset& dataset() { return dataset_; }
  DataDirectory& directory() { return directory_; }

  // At the server's end: must be called after the last requests were served after SaveBeforeExit().
  // Saves their changes, too.
  void SaveTheRest();

  std::optional<LoadingStatus> loading() const override;
  SnapshotStatus status() const override { return snapshots_.status(); }
  LogStatus log_status() const override;
  void ResetStats() override { append_log_.ResetStats(); }
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
  absl::Status LoadAgain(const Reload& reload) override;
  absl::Status LoadLogAgain() override;
  absl::Status Apply(const Settings& settings) override;
  uint64_t WrittenPosition() const override { return append_log_.end(); }
  uint64_t DurablePosition() const override { return append_log_.durable(); }
  uint64_t ReleasedPosition() const override { return append_log_.released(); }
  bool MayBeLost(uint64_t position) const override { return append_log_.MayBeLost(position); }
  void EndRound() override;
  void Tick() override;
  bool HasWork() const override;

 private:
  absl::Status SwitchLog(bool on);
  absl::Status SwitchLogAfterUnit(bool on);
  absl::Status LoadAgainInTransaction(const Reload& reload);
  absl::Status LockDirectory();
  absl::Status LoadAll();
  void ContinueLoading();
  void LoadFor(std::chrono::milliseconds time);
  void ContinueChecking();
  void FinishReplacing(const absl::Status& status);
  absl::Status Replace(const std::string& path);
  void EndLog();
  void ConsiderBeginningLog();
  absl::Status BeginLog();
  void ScheduleLog();
  void CompleteLog();
  void MakeWayForSnapshot();
  void MakeWayForRepair();
  bool MayContinueTransfer() const;
  void ContinueTransfer();

  Engine& engine_;
  FileSystem& files_;
  const ServerLog log_;
  const std::function<void()> on_progress_;
  DataDirectory directory_;
  Dataset dataset_;
  SnapshotService snapshots_;
  AppendLog append_log_;
  bool saving_scheduled_ = false;
  bool rewriting_scheduled_ = false;
  // The log is on, but does not exist: a master's snapshot has ended it, or it waits for the end of
  // another snapshot.
  bool log_is_missing_ = false;
  bool log_is_due_ = false;             // it begins as soon as no snapshot is being taken
  std::optional<bool> next_log_state_;  // when the running transaction has ended: on or off
  Millis log_tried_at_{0};
  std::unique_ptr<BackgroundSnapshot> transfer_;  // null: none
  std::function<bool()> is_transfer_full_;
  std::optional<absl::Status> transfer_result_;
  Millis loading_since_{0};
  OnLoaded on_loaded_;
  std::optional<HistoryPlace> loaded_position_;
  uint64_t received_ = 0;                          // snapshots
  std::unique_ptr<ReceivedSnapshot> replaced_by_;  // null: nothing is being replaced
  Replacement replacement_;                        // how
  OnChecked on_checked_;
  absl::StatusOr<CheckedSnapshot> checked_;  // of the load's thread, until it is done
  std::unique_ptr<LoadTurns> check_;         // null: none
  std::unique_ptr<LoadTurns> load_;          // null: none; last: both use the others
};

}  // namespace zsetd
