#pragma once

#include <cstdint>

namespace zsetd {

struct Settings;

// Raises this process's limit of open files, as far as the system allows, so that `maxclients`
// clients can be connected while the server opens files of its own: for its threads, the metrics,
// snapshots, the log and links to other servers. Returns the number of clients that can be
// connected, at least 1.
int64_t MakeRoomForClients(const Settings& settings);

}  // namespace zsetd
