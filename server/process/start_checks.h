#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "server/engine/config/settings.h"

namespace zsetd {

// Refuses addresses and ports at which a server could never listen, on any machine. `bus_port` is
// that of the cluster bus, if there is one. An error is human-readable.
absl::Status CheckListening(const Settings& settings, std::optional<int64_t> bus_port);

// Refuses files in directories that do not exist, and a socket whose path is too long. Relative
// paths are relative to the working directory.
absl::Status CheckPaths(const Settings& settings);

}  // namespace zsetd
