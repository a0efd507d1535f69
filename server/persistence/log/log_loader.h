#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "protocol/resp/args.h"
#include "server/persistence/file/file.h"

namespace zsetd {

struct LogLoadOptions {
  // Runs a command; a refusal ends the load.
  std::function<absl::Status(Args)> apply;

  // Ends a MULTI that has no EXEC, of a unit that was not written whole: nothing of it is done.
  std::function<void()> discard;

  std::function<void(uint64_t bytes, uint64_t total)> progress;  // periodically; or null

  // The most bytes at the end of the log that may be damaged, as a crash of the machine may leave
  // them; they are removed.
  uint64_t most_damaged_bytes = 0;
};

// The contents of a loaded file of commands.
struct LoadedLog {
  uint64_t whole_bytes = 0;  // up to the end of the last whole unit
  uint64_t bytes = 0;        // of the file: more, if its end was cut off
  uint64_t commands = 0;

  bool IsTruncated() const { return whole_bytes < bytes; }
};

// Runs the commands of a file of the append-only log after the first `offset` bytes. A file without
// its end, as a crash leaves it, is not an error: its complete units were run. Any other bytes that
// are not a RESP command are refused with file, offset and reason. Memory follows the bytes in the
// file.
absl::StatusOr<LoadedLog> LoadLog(FileSystem& files, const std::string& path, uint64_t offset,
                                  const LogLoadOptions& options);

}  // namespace zsetd
