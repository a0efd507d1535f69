#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/engine/config/settings.h"

namespace zsetd {

// The log has four levels, with the names of the setting `loglevel`. In the code they are spdlog's:
//
//   debug    trace()
//   verbose  debug()
//   notice   info()
//   warning  warn() and error()
//
// A message is one line, whatever is in it: control characters are written as \xHH, so that nobody
// whose words are logged can add lines.

// Has spdlog log as the settings have it from now on: append to `logfile`, or write to standard
// output if there is none; and to the system's log too, if it is enabled. The error is a message
// for the operator.
absl::Status OpenLog(const Settings& settings);

// Opens the file of this name again, for the old one may have been moved away (logrotate). If it
// cannot be opened, the log stays where it is. The log must be open. Nothing to do for an empty
// name.
absl::Status ReopenLogFile(const std::string& file);

// Leaves out what is below this level.
void SetLogLevel(std::string_view name);

}  // namespace zsetd
