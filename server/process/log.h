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
// of . - * # from debug to warning. A message is one line, whatever is in it: control characters
// are written as \xHH, so that a client whose arguments are logged cannot add lines.

// Makes spdlog log as the settings say: append to `logfile`, or write to standard output if there
// is none; and to the system's log too, if it is enabled. The error is a message for the operator.
absl::Status OpenLog(const Settings& settings);

// Opens the file of this name again, because the old one may have been moved (logrotate). If it
// cannot be opened, the log continues in the old one. The log must be open. Does nothing for an
// empty name.
absl::Status ReopenLogFile(const std::string& file);

// The log that OpenLog() has opened, for the layers that do not know spdlog.
class SpdlogLog : public Log {
 public:
  bool IsOn(LogLevel level) const override;
  void Write(LogLevel level, std::string_view text) const override;
};

// From now on, messages below this level are left out.
void SetLogLevel(LogLevel level);

// Sets the role that lines show from now on. May be called before OpenLog().
void SetLogRole(bool is_replica);

}  // namespace zsetd
