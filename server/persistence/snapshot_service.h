#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/util/time.h"
#include "server/engine/engine.h"
#include "server/engine/services/snapshot_control.h"
#include "server/persistence/file/data_directory.h"
#include "server/persistence/file/file.h"
#include "server/persistence/snapshot/background_snapshot.h"
#include "server/persistence/snapshot/dataset.h"
#include "server/persistence/snapshot/snapshot_file.h"

namespace zsetd {

// Saves and loads the snapshot file of SAVE, BGSAVE and save points (the setting `dbfilename`), and
// keeps the results for INFO.
class SnapshotService {
 public:
  // The arguments outlive this. `on_progress` is called on another thread when HasWork() becomes
  // true; it may be null.
  SnapshotService(Engine& engine, FileSystem& files, DataDirectory& directory, Dataset& dataset,
                  const Log& log, std::function<void()> on_progress);
  ~SnapshotService();

  // Loads the file if it exists. Returns whether it existed. An error is human-readable; no file
  // was changed.
  absl::StatusOr<bool> Load();

  // The place in a history that the loaded file contains; nullopt if it contains none or no file
  // was loaded.
  const std::optional<HistoryPlace>& loaded_position() const { return loaded_position_; }

  // Must be called when the dataset was loaded from any file. Save points count changes from here.
  void OnLoaded() { saved_changes_ = engine_.store().change_count(); }

  // See SnapshotControl.
  SnapshotStatus status() const;
  void ResetStats() { saves_ = 0; }
  absl::Status Save();
  bool IsSaving() const { return job_ != nullptr; }
  absl::Status StartSaving();
  absl::Status SaveBeforeExit(bool must_save, bool may_not);
  absl::Status LoadAgain(const ReloadOptions& reload);

  // Like LoadAgain() with `saves`, but saves to a draft and loads the draft. The snapshot file is
  // unchanged.
  absl::Status LoadAgainByDraft(const ReloadOptions& reload);

  // Whether the final snapshot was saved.
  bool IsSavedForExit() const { return saved_for_exit_; }

  // Saves the changes that were made after SaveBeforeExit(), including expired keys. Must be called
  // at the server's end, after the last requests.
  void SaveTheRest();

  // Cancels the snapshot that is being taken, if one is.
  void Abandon();

  // Continues the snapshot that is being taken.
  void Continue();
  bool HasWork() const { return job_ != nullptr && (job_->HasWork() || job_->done()); }

  // Starts a snapshot if a save point is reached. Precondition: no snapshot is being taken.
  void ConsiderSavePoints();

 private:
  std::string Path() const;
  std::string NextDraftName();
  absl::StatusOr<std::unique_ptr<SnapshotFile>> CreateFile(const std::string& name);
  absl::Status LoadAgainFrom(const std::string& path, const ReloadOptions& reload);
  absl::Status FailToSave(absl::Status why);
  void ReportProgress();
  absl::Status Finish();

  Engine& engine_;
  FileSystem& files_;
  DataDirectory& directory_;
  Dataset& dataset_;
  const Log& log_;
  const std::function<void()> on_progress_;
  std::unique_ptr<BackgroundSnapshot> job_;  // null: none
  int reported_tenths_ = 0;                  // the last reported progress of `job_`
  uint64_t drafts_ = 0;
  bool saved_for_exit_ = false;

  Millis last_saved_at_;        // by the clock, as LASTSAVE reports it
  Micros saved_at_;             // by the stopwatch
  uint64_t saved_changes_ = 0;  // the store's change count in the last snapshot
  int64_t saved_offset_ = 0;    // the history's offset in the last snapshot in the foreground
  bool last_save_ok_ = true;
  std::optional<Micros> last_save_took_;
  Micros last_try_at_{0};  // by the stopwatch
  uint64_t saves_ = 0;
  uint64_t keys_loaded_ = 0;
  uint64_t keys_expired_ = 0;
  std::optional<HistoryPlace> loaded_position_;
};

}  // namespace zsetd
