#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/engine/config/settings.h"
#include "server/engine/support/log.h"

namespace zsetd {

// The log of the program, written by the library spdlog. All threads share it.
//
// A line has Redis's layout, which harnesses and log shippers parse:
//
//   2183:M 24 Nov 2026 02:06:03.974 * Ready to accept connections tcp
//
// The parts are the process, its role (M: master, S: replica), the local time, and the level: one
// of . - * # from debug to warning. A message is always one line. Control characters are written as
// \xHH, so that a client cannot add lines by arguments that are logged.
class SpdlogLog : public Log {
 public:
  // Drops all lines until Open().
  SpdlogLog();
  ~SpdlogLog() override;

  // Appends to `logfile`, or writes to standard output if it is empty. Also writes to the system's
  // log if that is enabled. The error is a message for the operator. Precondition: not open.
  absl::Status Open(const Settings& settings);

  // Opens the file of this name again, because the old file may have been moved (logrotate). If
  // that fails, the log continues in the old file. Lines that other threads write in the meantime
  // are not lost. Has no effect for an empty name. Precondition: the log is open.
  absl::Status ReopenFile(const std::string& file);

  // Lines below this level are not written.
  void SetLevel(LogLevel level);

  // Sets the role in subsequent lines.
  void SetRole(bool is_replica);

  bool IsOn(LogLevel level) const override;
  void Write(LogLevel level, std::string_view text) const override;

 private:
  struct Outputs;

  const std::unique_ptr<Outputs> outputs_;
};

}  // namespace zsetd
