#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace zsetd {

// An error that a client can cause is a status whose message is the whole error line, word for
// word.
inline absl::Status Refusal(std::string_view line) {
  return absl::InvalidArgumentError(absl::string_view(line.data(), line.size()));
}

// The line to reply for a status that is not OK.
inline std::string_view ErrorLine(const absl::Status& status) {
  return std::string_view(status.message().data(), status.message().size());
}

// Error lines of more than one command, in the wording of Redis.
inline constexpr std::string_view kSyntaxError = "ERR syntax error";
inline constexpr std::string_view kNotAnInteger = "ERR value is not an integer or out of range";
inline constexpr std::string_view kNotAFloat = "ERR value is not a valid float";
inline constexpr std::string_view kWrongType =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
inline constexpr std::string_view kNoSuchKey = "ERR no such key";
inline constexpr std::string_view kIndexOutOfRange = "ERR index out of range";
inline constexpr std::string_view kOutOfMemory =
    "OOM command not allowed when used memory > 'maxmemory'.";
inline constexpr std::string_view kSnapshotsFail =
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to "
    "disk. Commands that may modify the data set are disabled, because this instance is configured "
    "to report errors during writes if RDB snapshotting fails (stop-writes-on-bgsave-error "
    "option). "
    "Please check the Redis logs for details about the RDB error.";
inline constexpr std::string_view kMustBePositive = "ERR value is out of range, must be positive";

// An argument of a client as errors quote it, at most `most` bytes, and as in Redis up to a NUL.
inline std::string Quoted(std::string_view word, size_t most = std::string_view::npos) {
  return "'" + std::string(word.substr(0, std::min(most, word.find('\0')))) + "'";
}

// For a request with too few or too many arguments. `command` is the row's name.
inline std::string WrongArity(std::string_view command) {
  return "ERR wrong number of arguments for '" + std::string(command) + "' command";
}

}  // namespace zsetd
