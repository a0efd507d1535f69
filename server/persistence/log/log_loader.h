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
  // Runs a command; an error ends the load.
  std::function<absl::Status(Args)> apply;

  // Discards an incomplete unit: a MULTI without an EXEC. None of its commands takes effect.
  std::function<void()> discard;

  std::function<void(uint64_t bytes, uint64_t total)> progress;  // periodically; or null

  // The maximum number of damaged bytes at the end of the log, as a crash of the machine may leave
  // them. They are removed.
  uint64_t most_damaged_bytes = 0;
};

// The contents of a loaded file of commands.
struct LoadedLog {
  uint64_t whole_bytes = 0;  // up to the end of the last complete unit
  uint64_t bytes = 0;  // the size of the file; larger than `whole_bytes` if the end is incomplete
  uint64_t commands = 0;

  bool IsTruncated() const { return whole_bytes < bytes; }
};

// Runs the commands in a file of the append-only log that follow the first `offset` bytes. An
// incomplete end, as a crash leaves it, is not an error: the complete units are run. Other bytes
// that are not a RESP command are an error with file, offset and reason. Memory use is bounded by
// the bytes in the file, not by announced lengths.
absl::StatusOr<LoadedLog> LoadLog(FileSystem& files, const std::string& path, uint64_t offset,
                                  const LogLoadOptions& options);

}  // namespace zsetd
