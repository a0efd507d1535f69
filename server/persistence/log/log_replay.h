#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "server/engine/applier.h"
#include "server/engine/engine.h"
#include "server/persistence/file/data_directory.h"
#include "server/persistence/log/log_directory.h"
#include "server/persistence/snapshot/dataset.h"

namespace zsetd {

// The sizes of a log's files, in bytes.
struct LogBytes {
  uint64_t base = 0;
  uint64_t old = 0;   // incremental files before the last
  uint64_t last = 0;  // the last incremental file, after truncation
};

// Loads a log: the base, then the commands of the incremental files. If the dataset has turns, the
// load takes turns with the engine. An object is used once.
class LogReplay {
 public:
  // The arguments outlive this. Precondition: the directory is open.
  LogReplay(Engine& engine, const LogDirectory& directory, Dataset& dataset, const Log& log);

  // Truncates an incomplete unit at the end of the last file if the settings allow it. An error is
  // human-readable; after it, the engine may contain a part of the log.
  absl::StatusOr<LogBytes> Run();

 private:
  void AnnounceFiles() const;
  absl::Status LoadBase(const LogFile& file, bool is_last);
  absl::Status LoadCommands(const LogFile& file, uint64_t offset, bool is_last);
  absl::Status TruncateAt(const LogFile& file, uint64_t whole_bytes, uint64_t bytes, bool is_last);
  void ReportProgress(const LogFile& file, uint64_t bytes, uint64_t total);

  Engine& engine_;
  const LogDirectory& directory_;
  Dataset& dataset_;
  const Log& log_;
  Applier applier_;
  const Micros start_;
  Micros reported_at_;
  uint64_t commands_ = 0;
  uint64_t applied_ = 0;  // the number of commands, so far
  LogBytes bytes_;
};

}  // namespace zsetd
