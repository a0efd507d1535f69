#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/engine/engine.h"
#include "server/engine/services.h"
#include "server/persistence/file/data_directory.h"
#include "server/persistence/file/file.h"
#include "server/persistence/snapshot/load_turns.h"
#include "server/persistence/snapshot/snapshot_encoder.h"
#include "server/persistence/snapshot/snapshot_loader.h"

namespace zsetd {

// The result of a check of a snapshot that can be loaded.
struct CheckedSnapshot {
  std::string functions;       // as Scripting::DumpLibraries() returns them
  bool skips_unknown = false;  // whether keys that cannot be kept may be left out
};

// All persistent data, in the engine and in files: the keys of all databases and the libraries of
// functions.
class Dataset {
 public:
  // All of them outlive it.
  Dataset(Engine& engine, FileSystem& files, const ServerLog& log)
      : engine_(engine), files_(files), log_(log) {}

  // Where the data is in the history that the server shares with others, between two units.
  HistoryPlace place() const;

  // The contents of a snapshot of this instant in addition to the keys: for replicas that continue
  // from it, or for the base of a log.
  SnapshotContents Contents() const;
  SnapshotContents ContentsOfBase() const;

  // Reads a snapshot's file; the engine is left as it is. Reports the progress in the log. Keys
  // past their deadline are left out, unless `keeps_expired`: commands that follow may still need
  // them. kNotFound if there is no such file.
  absl::StatusOr<LoadedSnapshot> Read(const std::string& path, bool keeps_expired) const;

  // Like Read() with `keeps_expired`, of a file for which Check() has returned `checked`.
  absl::StatusOr<LoadedSnapshot> Read(const std::string& path,
                                      const CheckedSnapshot& checked) const;

  // Reads a snapshot's file to its end, in turns, and keeps nothing. OK if the file can be loaded
  // with these options.
  absl::StatusOr<CheckedSnapshot> Check(const std::string& path, LoadOptions options,
                                        LoadTurns& turns) const;

  // How a file is loaded by the present settings.
  LoadOptions Options() const;

  // Replaces the engine's data by that of the file, or adds it. All or nothing: a refusal leaves
  // the engine unchanged.
  absl::Status Put(LoadedSnapshot loaded, const std::string& path,
                   const Persistence::Reload& reload);

  // The two parts of Put(): libraries of functions, all or nothing; then keys, which cannot fail if
  // the store is empty.
  absl::Status PutFunctions(const std::string& functions, const std::string& path,
                            const Persistence::Reload& reload);
  void PutKeys(LoadedSnapshot loaded);

  // Takes turns with the engine while it reads; null: the engine waits. It outlives its use here.
  void set_turns(LoadTurns* turns) { turns_ = turns; }
  LoadTurns* turns() const { return turns_; }

  // Logs what was read, and which parts are not kept.
  void Report(const LoadedSnapshot& loaded, Micros took) const;

 private:
  std::string Functions() const;
  absl::StatusOr<LoadedSnapshot> Read(const std::string& path, LoadOptions options) const;
  absl::Status FindDuplicates(const LoadedSnapshot& loaded) const;

  Engine& engine_;
  FileSystem& files_;
  const ServerLog& log_;
  LoadTurns* turns_ = nullptr;
  std::string kept_functions_;  // that were loaded and cannot be run, to be saved again
};

}  // namespace zsetd
