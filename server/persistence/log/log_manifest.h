// The manifest lists the files of the append-only log, in the layout of Redis 7:
//
//     appendonlydir/appendonly.aof.manifest       file appendonly.aof.2.base.rdb seq 2 type b
//                   appendonly.aof.2.base.rdb     file appendonly.aof.3.incr.aof seq 3 type i
//                   appendonly.aof.3.incr.aof
//
// A start loads the base, then runs the commands of the incremental files in the order of their
// numbers. Lines with `type h` name history files, which a later base has replaced. They are in the
// manifest until the files are removed, so that a start after a crash removes the files. Redis does
// that, too. Other files are leftovers of a server that was killed during a rewrite.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/persistence/file/file.h"

namespace zsetd {

struct LogFile {
  std::string name;  // in the log's directory, without a path
  uint64_t number = 0;

  bool operator==(const LogFile&) const = default;
};

struct LogManifest {
  std::optional<LogFile> base;       // a snapshot, or a log of Redis before version 7
  std::vector<LogFile> incremental;  // by number, ascending
  std::vector<LogFile> history;      // no longer needed, to be removed; perhaps missing

  uint64_t LastNumber()
      const;  // the largest number of the base and the incremental files; 0 without files

  // Whether the log needs the file of this name.
  bool Needs(const std::string& name) const;

  bool operator==(const LogManifest&) const = default;
};

// Convert a manifest to the text of its file, and back. An error states the reason and the line.
// The text names no needed file as history, because Redis would remove the file.
std::string ManifestText(const LogManifest& manifest);
absl::StatusOr<LogManifest> ParseManifest(std::string_view text);

// Replaces the manifest in the directory, completely or not at all. After an error the old manifest
// is in place. If `is_uncertain` is set, a crash may restore either manifest.
absl::Status WriteManifest(FileSystem& files, const std::string& directory, const std::string& name,
                           const LogManifest& manifest, bool& is_uncertain);

// Removes the history files, then writes the manifest without them. Does not remove needed files.
// Returns the new manifest, with the history files that cannot be removed. If the write fails,
// returns `manifest`. Precondition: `manifest` is on the disk and survives a crash.
LogManifest RemoveHistory(FileSystem& files, const std::string& directory, const std::string& name,
                          const LogManifest& manifest);

// Reads the manifest. kNotFound if it does not exist; a human-readable error if it is damaged.
absl::StatusOr<LogManifest> ReadManifest(FileSystem& files, const std::string& path);

}  // namespace zsetd
