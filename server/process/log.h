#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace zsetd {

// The log has four levels, with the names of the setting `loglevel`. In the code they are spdlog's:
//
//   debug    trace()
//   verbose  debug()
//   notice   info()
//   warning  warn() and error()

// Has spdlog append to this file from now on, or write to standard output if the name is empty.
absl::Status OpenLog(const std::string& file);

// Leaves out what is below this level.
void SetLogLevel(std::string_view name);

}  // namespace zsetd
