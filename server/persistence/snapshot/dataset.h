#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/engine/engine.h"
#include "server/engine/services/snapshot_control.h"
#include "server/persistence/file/data_directory.h"
#include "server/persistence/file/file.h"
#include "server/persistence/snapshot/load_turns.h"
#include "server/persistence/snapshot/snapshot_encoder.h"
#include "server/persistence/snapshot/snapshot_loader.h"

namespace zsetd {

// The result of a check of a snapshot that can be loaded.
struct CheckedSnapshot {
  std::string functions;       // as Scripting::DumpLibraries() returns them
  bool skips_unknown = false;  // whether keys of unsupported types are skipped
};

// The persistent data: the keys of all databases and the libraries of functions. Moves it between
// the engine and files.
class Dataset {
 public:
  // The arguments outlive this.
  Dataset(Engine& engine, FileSystem& files, const Log& log)
      : engine_(engine), files_(files), log_(log) {}

  // The place of the data in the history that masters and replicas share. Precondition: no unit is
  // open.
  HistoryPlace place() const;

  // The contents of a snapshot of this instant in addition to the keys. The first is for snapshot
  // files and replicas, the second for the base of a log.
  SnapshotContents Contents() const;
  SnapshotContents ContentsOfBase() const;

  // Reads a snapshot's file and leaves the engine unchanged. Logs the progress. Keys past their
  // deadline are left out unless `keeps_expired`, which is needed if commands follow that may use
  // them. kNotFound if the file does not exist.
  absl::StatusOr<LoadedSnapshot> Read(const std::string& path, bool keeps_expired) const;

  // Like Read() with `keeps_expired`, for a file that Check() has accepted with the result
  // `checked`.
  absl::StatusOr<LoadedSnapshot> Read(const std::string& path,
                                      const CheckedSnapshot& checked) const;

  // Reads a snapshot's file completely, in turns, and keeps no key. OK if the file can be loaded
  // with these options.
  absl::StatusOr<CheckedSnapshot> Check(const std::string& path, LoadOptions options,
                                        LoadTurns& turns) const;

  // The options for loading a file with the present settings.
  LoadOptions Options() const;

  // Replaces the engine's data with the loaded data, or adds the loaded data, as `reload`
  // specifies. An error leaves the engine unchanged.
  absl::Status Put(LoadedSnapshot loaded, const std::string& path, const ReloadOptions& reload);

  // The two parts of Put(). PutFunctions() puts all libraries or, after an error, none. PutKeys()
  // cannot fail if the store is empty.
  absl::Status PutFunctions(const std::string& functions, const std::string& path,
                            const ReloadOptions& reload);
  void PutKeys(LoadedSnapshot loaded);

  // If `turns` is not null, loads take turns with the engine; otherwise the engine waits. `turns`
  // stays valid until it is replaced.
  void set_turns(LoadTurns* turns) { turns_ = turns; }
  LoadTurns* turns() const { return turns_; }

  // Logs the numbers of keys that were loaded and skipped.
  void Report(const LoadedSnapshot& loaded, Micros took) const;

 private:
  absl::StatusOr<LoadedSnapshot> Read(const std::string& path, LoadOptions options) const;
  absl::Status FindDuplicates(const LoadedSnapshot& loaded) const;

  Engine& engine_;
  FileSystem& files_;
  const Log& log_;
  LoadTurns* turns_ = nullptr;
};

}  // namespace zsetd
