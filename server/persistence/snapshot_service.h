// Snapshots: when they are taken, how one is taken while requests run, and what is loaded at the
// start.
//
//   a tick:  Snapshot ──entries──► SnapshotEncoder ──bytes──► SnapshotThread ──► SnapshotFile
//            half a millisecond at most                       writes, sums, syncs
//
// A snapshot in the background shows the instant at which it was begun. The engine's thread encodes
// the entries, some at each tick, and those that are about to change right before they do; a thread
// of its own has the disk. There is no second process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "core/util/time.h"
#include "server/engine/engine.h"
#include "server/engine/services.h"
#include "server/persistence/file.h"
#include "server/persistence/snapshot_encoder.h"
#include "server/persistence/snapshot_loader.h"
#include "server/persistence/snapshot_thread.h"

namespace zsetd {

class SnapshotService : public Persistence {
 public:
  // Lines for the server's log.
  struct Log {
    std::function<void(std::string_view)> notice;
    std::function<void(std::string_view)> warning;
  };

  // The engine and the files outlive it. It is not in use before Start().
  SnapshotService(Engine& engine, FileSystem& files, Log log);
  ~SnapshotService() override;

  // At the server's start: takes the directory for this process if it is going to write there, and
  // loads the file in it, if there is one. A refusal is for people; nothing has been written then.
  absl::Status Start();

  // At the server's end: after SaveBeforeExit() clients have been answered what they had asked
  // before. What that changed is saved, too.
  void SaveTheRest();

  SnapshotStatus status() const override;
  absl::Status Save() override;
  bool IsSaving() const override { return job_ != nullptr; }
  absl::Status StartSaving() override;
  void ScheduleSaving() override { scheduled_ = true; }
  absl::Status SaveBeforeExit(bool must_save, bool may_not) override;
  void OnFlushAll() override;
  absl::Status LoadAgain(const Reload& reload) override;
  void Tick() override;
  bool HasWork() const override;

 private:
  // A snapshot that is being taken in the background.
  struct Job {
    Job(std::unique_ptr<SnapshotFile> file, const Settings& settings, const Engine& engine)
        : encoder(settings, engine.access_tracker()),
          snapshot(engine.databases(), encoder),
          thread(std::move(file)) {}

    SnapshotEncoder encoder;
    Snapshot snapshot;
    SnapshotThread thread;
    bool encoded = false;
    Millis started_at{0};
    uint64_t changes = 0;  // the engine's count at the instant that it shows
    int reported_tenths = 0;
  };

  std::string Directory() const;
  std::string Path() const;
  absl::Status LockDirectory();
  absl::StatusOr<std::unique_ptr<SnapshotFile>> CreateFile();
  absl::Status FailToSave(absl::Status why);
  absl::Status WriteAll(SnapshotFile& file);
  void Continue();
  void ReportProgress();
  void Finish();
  void Abandon();
  void ConsiderSavePoints();
  absl::StatusOr<LoadedSnapshot> Load();
  absl::Status FindDuplicates(const LoadedSnapshot& loaded) const;
  std::string Functions() const;
  absl::Status RestoreFunctions(const LoadedSnapshot& loaded, const Reload& reload);
  void Adopt(LoadedSnapshot loaded, const Reload& reload);
  void ReportLoaded(const LoadedSnapshot& loaded, Micros took);

  Engine& engine_;
  FileSystem& files_;
  Log log_;
  std::unique_ptr<DirectoryLock> lock_;  // null where there are no locks, or none was needed yet
  std::string locked_;                   // the directory
  std::unique_ptr<Job> job_;             // null: none
  bool scheduled_ = false;
  std::string kept_functions_;  // that were loaded and cannot be run, to be saved again
  uint64_t drafts_ = 0;
  bool saved_for_exit_ = false;

  Millis last_saved_at_;
  uint64_t saved_changes_ = 0;  // the engine's count at the instant that the last one shows
  bool last_save_ok_ = true;
  std::optional<Millis> last_save_took_;
  Millis last_try_at_{0};
  uint64_t saves_ = 0;
  uint64_t keys_loaded_ = 0;
  uint64_t keys_expired_ = 0;
};

}  // namespace zsetd
