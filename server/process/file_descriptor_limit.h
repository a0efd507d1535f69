#pragma once

#include <cstdint>

namespace zsetd {

// Raises this process's limit of open files, as far as the system allows, so that `clients` clients
// can be connected. Returns the number of clients that can be connected, at least 1.
int64_t MakeRoomForClients(int64_t clients);

}  // namespace zsetd
