#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/keyspace/access_tracker.h"
#include "core/keyspace/keyspace.h"
#include "core/util/time.h"
#include "server/engine/state/replication_state.h"
#include "server/engine/store/value_limits.h"
#include "server/persistence/file/file.h"
#include "server/persistence/file/file_source.h"

namespace zsetd {

// The contents of a file.
struct LoadedSnapshot {
  std::map<int, Keyspace> databases;     // by number
  std::optional<HistoryPlace> position;  // of the data, if that was saved
  std::string functions;                 // as Scripting::DumpLibraries() returns them
  uint64_t keys_loaded = 0;
  uint64_t keys_expired = 0;                 // past their deadline; left out
  uint64_t keys_skipped = 0;                 // of types that this server does not support
  uint64_t keys_empty = 0;                   // without elements; left out
  std::vector<std::string> some_empty_keys;  // the names of the first of those, shortened
  uint64_t bytes = 0;
};

struct LoadOptions {
  Millis now{0};
  int databases = 16;
  ValueLimits limits;
  bool checks_checksum = true;
  bool skips_unknown = false;
  bool keeps_expired = false;  // keys and fields past their deadline, which are kept as well if
                               // with a position: the history deletes them
  const AccessTracker* access_tracker = nullptr;  // for the access data of keys; null: not set
  std::function<Keyspace()> make_keyspace;        // returns an empty keyspace
  std::function<void(uint64_t bytes, uint64_t total, uint64_t keys)>
      progress;                                  // periodically; or null
  FileSource::OnRead on_read;                    // or null
  const std::atomic<bool>* abandoned = nullptr;  // stops the slow steps of a check; or null
};

// Reads a snapshot file of Redis, Valkey or zsetd. Returns an error with file, offset and reason if
// the file is damaged or contains data that this server would lose. Memory use is bounded by the
// bytes in the file, not by announced lengths. kNotFound if the file does not exist.
absl::StatusOr<LoadedSnapshot> LoadSnapshot(FileSystem& files, const std::string& path,
                                            const LoadOptions& options);

// Reads a file completely and keeps no key. Succeeds exactly if LoadSnapshot() with the same
// options and `keeps_expired` succeeds, provided that the file stays readable and unchanged. The
// result has no databases.
//
// Needs 8 bytes for each key and for each element of the largest value, and the bytes of the
// longest string.
absl::StatusOr<LoadedSnapshot> CheckSnapshot(FileSystem& files, const std::string& path,
                                             const LoadOptions& options);

}  // namespace zsetd
