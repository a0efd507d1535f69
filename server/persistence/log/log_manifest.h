// Which files the append-only log consists of, in the layout of Redis 7:
//
//     appendonlydir/appendonly.aof.manifest       file appendonly.aof.2.base.rdb seq 2 type b
//                   appendonly.aof.2.base.rdb     file appendonly.aof.3.incr.aof seq 3 type i
//                   appendonly.aof.3.incr.aof
//
// The data is what the base holds, and then what the commands of the incremental files do, in the
// order of their numbers. Only what the manifest names counts; whatever else is in the directory is
// a leftover of a server that was killed.
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
  std::string name;  // in the log's directory; no path
  uint64_t number = 0;

  bool operator==(const LogFile&) const = default;
};

struct LogManifest {
  std::optional<LogFile> base;       // a snapshot, or a log of Redis before 7
  std::vector<LogFile> incremental;  // by number, ascending
  std::vector<LogFile> history;      // not needed any more, to be removed

  uint64_t LastNumber() const;  // of the base and the incremental files; 0 without files

  bool operator==(const LogManifest&) const = default;
};

// The text of the manifest's file, and back. A refusal states the reason and the line.
std::string ManifestText(const LogManifest& manifest);
absl::StatusOr<LogManifest> ParseManifest(std::string_view text);

// Replaces the manifest in the directory, completely or not at all. After an error the old one is
// in place, unless `is_uncertain`: then a crash may restore either.
absl::Status WriteManifest(FileSystem& files, const std::string& directory, const std::string& name,
                           const LogManifest& manifest, bool& is_uncertain);

// Reads it. kNotFound if it does not exist; a human-readable refusal if it is damaged.
absl::StatusOr<LogManifest> ReadManifest(FileSystem& files, const std::string& path);

}  // namespace zsetd
