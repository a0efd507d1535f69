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
#include "server/engine/replication_state.h"
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
  uint64_t keys_expired = 0;                 // past their deadline, and left out
  uint64_t keys_skipped = 0;                 // of types that cannot be kept here
  uint64_t keys_empty = 0;                   // without elements, and left out
  std::vector<std::string> some_empty_keys;  // the first names of those, shortened
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
  const AccessTracker* access_tracker = nullptr;  // for the marks of keys; null: they are not set
  std::function<Keyspace()> make_keyspace;        // an empty one
  std::function<void(uint64_t bytes, uint64_t total, uint64_t keys)>
      progress;                                  // now and then; or null
  FileSource::OnRead on_read;                    // or null
  const std::atomic<bool>* abandoned = nullptr;  // ends the slow steps of a check; or null
};

// Reads a file as redis-server, Valkey and zsetd write it. Refuses a damaged file, or one with data
// that would be lost, with file, offset and reason. Memory follows the bytes in the file, never an
// announced length. kNotFound if the file does not exist.
absl::StatusOr<LoadedSnapshot> LoadSnapshot(FileSystem& files, const std::string& path,
                                            const LoadOptions& options);

// Reads a file to its end and keeps no key: succeeds exactly if LoadSnapshot() does with the same
// options and with `keeps_expired`, as long as the file can be read and stays the same. The result
// has no databases.
//
// Takes 8 bytes for each key and for each element of the largest value, and the bytes of the
// longest string.
absl::StatusOr<LoadedSnapshot> CheckSnapshot(FileSystem& files, const std::string& path,
                                             const LoadOptions& options);

}  // namespace zsetd
