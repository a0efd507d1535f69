#pragma once

#include <cstdint>
#include <string>

#include "core/util/time.h"
#include "server/engine/client/client.h"

namespace zsetd {

// Whether it is this server's master (MasterLinkStatus): it acts for no user.
bool IsMaster(const Client& client);

// A line of CLIENT LIST: the fields of Redis in their order, and a line feed.
std::string ClientLine(const Client& client, Millis now);

// The client that invalidation messages are redirected to: 0 if they are not redirected, -1 without
// tracking.
int64_t RedirectOf(const Client& client);

}  // namespace zsetd
