#pragma once

#include <cstdint>

#include "absl/status/status.h"

namespace zsetd {

struct Settings;

// The port of the bus that this node listens on: `cluster-port`, or 10,000 above the port for
// clients. It may be higher than any port.
int64_t BusPort(const Settings& settings);

// Refuses settings with which the port of a node's bus would be too high. An error is
// human-readable.
absl::Status CheckBusPort(const Settings& settings);

// Like CheckBusPort(), but also refuses a `replicaof` at the start of a node.
absl::Status CheckClusterSettings(const Settings& settings);

}  // namespace zsetd
