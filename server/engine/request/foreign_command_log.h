#pragma once

#include <string_view>

#include "absl/container/flat_hash_set.h"

namespace zsetd {

class Caller;
class Log;

// Logs requests for commands that Redis has and zsetd does not. A program that needs one often
// retries without a message of its own; the log line explains why it makes no progress.
class ForeignCommandLog {
 public:
  // The log outlives it.
  explicit ForeignCommandLog(const Log& log) : log_(log) {}

  // The caller asked for a command of this name, which is unknown. One line per command is written,
  // so the table of foreign commands bounds their number.
  void Note(const Caller& caller, std::string_view name);

 private:
  const Log& log_;
  absl::flat_hash_set<std::string_view> logged_;  // by their names in that table
};

}  // namespace zsetd
