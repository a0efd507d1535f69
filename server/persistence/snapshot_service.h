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
#include "server/engine/services.h"
#include "server/persistence/file/data_directory.h"
#include "server/persistence/file/file.h"
#include "server/persistence/snapshot/background_snapshot.h"
#include "server/persistence/snapshot/dataset.h"
#include "server/persistence/snapshot/snapshot_file.h"

namespace zsetd {

// The file of SAVE, BGSAVE and save points (the setting `dbfilename`): when it is written, the
// results, and loading it.
class SnapshotService {
 public:
  // All of them outlive it. `on_progress` is called on another thread when HasWork() becomes true;
  // or null.
  SnapshotService(Engine& engine, FileSystem& files, DataDirectory& directory, Dataset& dataset,
                  const ServerLog& log, std::function<void()> on_progress);
  ~SnapshotService();

  // Loads the file if it exists. Returns whether it did. A refusal is human-readable; no file was
  // changed.
  absl::StatusOr<bool> Load();

  // The place in a history that it showed; nothing if it showed none, or was not loaded.
  const std::optional<HistoryPlace>& loaded_position() const { return loaded_position_; }

  // The data is that of the disk, by whatever file: save points count from now on.
  void OnLoaded() { saved_changes_ = engine_.store().change_count(); }

  // As Persistence has them.
  SnapshotStatus status() const;
  absl::Status Save();
  bool IsSaving() const { return job_ != nullptr; }
  absl::Status StartSaving();
  absl::Status SaveBeforeExit(bool must_save, bool may_not);
  absl::Status LoadAgain(const Persistence::Reload& reload);

  // Like LoadAgain() of a file that was just saved, but through a draft. The file stays as it is.
  absl::Status LoadAgainByDraft(const Persistence::Reload& reload);

  // Whether the snapshot of the server's end has been saved.
  bool IsSavedForExit() const { return saved_for_exit_; }

  // At the server's end: must be called after the last requests were served and keys have expired
  // since SaveBeforeExit(). Saves these changes, too.
  void SaveTheRest();

  // Gives up the snapshot that is being taken, if there is one.
  void Abandon();

  // Takes the snapshot further that is being taken.
  void Continue();
  bool HasWork() const { return job_ != nullptr && (job_->HasWork() || job_->done()); }

  // Begins one if a save point is reached. None is being taken.
  void ConsiderSavePoints();

 private:
  std::string Path() const;
  std::string NextDraftName();
  absl::StatusOr<std::unique_ptr<SnapshotFile>> CreateFile(const std::string& name);
  absl::Status LoadAgainFrom(const std::string& path, const Persistence::Reload& reload);
  absl::Status FailToSave(absl::Status why);
  void ReportProgress();
  void Finish();

  Engine& engine_;
  FileSystem& files_;
  DataDirectory& directory_;
  Dataset& dataset_;
  const ServerLog& log_;
  const std::function<void()> on_progress_;
  std::unique_ptr<BackgroundSnapshot> job_;  // null: none
  int reported_tenths_ = 0;                  // of that one
  uint64_t drafts_ = 0;
  bool saved_for_exit_ = false;

  Millis last_saved_at_;
  uint64_t saved_changes_ = 0;  // the engine's count at the instant that the last one shows
  int64_t saved_offset_ = 0;    // of the history, in the last one in the foreground
  bool last_save_ok_ = true;
  std::optional<Millis> last_save_took_;
  Millis last_try_at_{0};
  uint64_t saves_ = 0;
  uint64_t keys_loaded_ = 0;
  uint64_t keys_expired_ = 0;
  std::optional<HistoryPlace> loaded_position_;
};

}  // namespace zsetd
