#pragma once

#include <cstdint>
#include <string>

#include "core/util/time.h"
#include "server/engine/client/client.h"

namespace zsetd {

// What CLIENT LIST tells of one client: Redis's fields in their order, and a line feed.
std::string ClientLine(const Client& client, Millis now);

// The client that is told of changed keys in this one's place: 0 if there is none, -1 if nobody is
// told.
int64_t RedirectOf(const Client& client);

}  // namespace zsetd
