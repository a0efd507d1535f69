#pragma once

#include <cstdint>

namespace zsetd {

// Raises this process's limit of open files, as far as the system allows, so that this many clients
// can be connected. Returns how many can; at least 1.
int64_t MakeRoomForClients(int64_t clients);

}  // namespace zsetd
