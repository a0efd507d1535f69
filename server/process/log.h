#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/engine/config/settings.h"
#include "server/engine/support/log.h"

namespace zsetd {

// The log has four levels, with the names of the setting `loglevel`. In the code they are spdlog's:
//
//   debug    trace()
//   verbose  debug()
//   notice   info()
//   warning  warn() and error()
//
// A line has Redis's layout, which harnesses and log shippers parse:
//
//   2183:M 24 Nov 2026 02:06:03.974 * Ready to accept connections tcp
//
// The parts are the process, its role (M: master, S: replica), the local time, and the level: one
// of . - * # from debug to warning. A message is always one line. Control characters are written as
// \xHH, so that a client cannot add lines by arguments that are logged.

// Configures spdlog with the settings: appends to `logfile`, or writes to standard output if it is
// empty. Also writes to the system's log if that is enabled. The error is a message for the
// operator.
absl::Status OpenLog(const Settings& settings);

// Opens the file of this name again, because the old file may have been moved (logrotate). If that
// fails, the log continues in the old file. Precondition: the log is open. Has no effect for an
// empty name.
absl::Status ReopenLogFile(const std::string& file);

// The log that OpenLog() has opened, for layers that do not use spdlog directly.
class SpdlogLog : public Log {
 public:
  bool IsOn(LogLevel level) const override;
  void Write(LogLevel level, std::string_view text) const override;
};

// Messages below this level are not logged.
void SetLogLevel(LogLevel level);

// Sets the role in subsequent lines. May be called before OpenLog().
void SetLogRole(bool is_replica);

}  // namespace zsetd
