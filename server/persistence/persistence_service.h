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

  // At the server's start: takes the directory for this process if it is going to write there, and
  // loads the log, or else the snapshot, if there is one. A refusal is for people; the files are as
  // they were then, but for an end of the log that was cut off. Where there is no log and there is
  // to be one, the snapshot becomes its base: nothing that is on the disk is left behind.
  absl::Status Start();

  // The same while requests are answered, which is done when the data is there, or cannot be
  // loaded: then `on_loaded` is called with the result, by Tick() or, if it takes no time to speak
  // of, by this. If this returns an error nothing was begun. Destroyed before the end, it leaves
  // the files as they are.
  using OnLoaded = std::function<void(const absl::Status&)>;
  absl::Status StartInBackground(OnLoaded on_loaded);

  // A file for a snapshot that a master is going to send.
  absl::StatusOr<std::unique_ptr<ReceivedSnapshot>> ReceiveSnapshot();

  // Puts a snapshot that has been received in the place of the data, in the background. If it
  // `keeps_data` requests are answered from the old data until the new is there, in whose place it
  // stays if the snapshot cannot be loaded; otherwise the data is dropped first, and requests are
  // answered with LOADING. The append-only log ends with the old data, and begins again with the
  // new. Nothing is being loaded. `on_replaced` is called by Tick() or, if it takes no time to
  // speak of, by this.
  using OnReplaced = std::function<void(const absl::Status&)>;
  void StartReplacing(std::unique_ptr<ReceivedSnapshot> snapshot, bool keeps_data,
                      OnReplaced on_replaced);
  bool IsReplacing() const { return replaced_by_ != nullptr; }

  // Gives that up: without data if it is not kept.
  void AbandonReplacing();

  // Begins the append-only log, if there is to be one, with the present data, where a snapshot that
  // could not be loaded has ended it.
  void ResumeLog();

  // Whether there is an append-only log that a restart would find with all that is durable in it.
  bool IsLogComplete() const { return append_log_.IsKept() && !append_log_.IsBeginning(); }

  // What the last snapshot that was loaded said of its place in a history; nothing if a log was.
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

  // Whether the snapshot of the server's end has been saved: the history stands still but for
  // changes.
  bool IsSavedForExit() const { return snapshots_.IsSavedForExit(); }

  // Whether a snapshot is being taken or loaded, for whatever.
  bool IsBusy() const { return IsSaving() || IsRewriting() || IsReplacing(); }

  // The data as files have it.
  Dataset& dataset() { return dataset_; }
  DataDirectory& directory() { return directory_; }

  // At the server's end: after SaveBeforeExit() clients have been answered what they had asked
  // before. What that changed is saved, too.
  void SaveTheRest();

  std::optional<LoadingStatus> loading() const override;
  SnapshotStatus status() const override { return snapshots_.status(); }
  LogStatus log_status() const override;
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
  bool MayBeLost(uint64_t position) const override { return append_log_.MayBeLost(position); }
  void EndRound() override;
  void Tick() override;
  bool HasWork() const override;

 private:
  absl::Status LockDirectory();
  absl::Status LoadAll();
  void ContinueLoading();
  void LoadFor(std::chrono::milliseconds time);
  void FinishReplacing(const absl::Status& status);
  absl::Status Replace(const std::string& path);
  void EndLog();
  void ConsiderResumingLog();
  void CompleteLog();
  void MakeWayForSnapshot();
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
  bool log_is_ended_ = false;  // by a snapshot of a master
  bool log_resumes_ = false;   // and is to be begun again
  Millis log_tried_at_{0};
  std::unique_ptr<BackgroundSnapshot> transfer_;  // null: none
  std::function<bool()> is_transfer_full_;
  std::optional<absl::Status> transfer_result_;
  Millis loading_since_{0};
  OnLoaded on_loaded_;
  std::optional<HistoryPlace> loaded_position_;
  uint64_t received_ = 0;                          // snapshots
  std::unique_ptr<ReceivedSnapshot> replaced_by_;  // null: nothing is being replaced
  bool keeps_data_ = false;                        // meanwhile
  std::unique_ptr<LoadTurns> load_;                // null: none; last: it uses the others
};

}  // namespace zsetd
