#pragma once

#include "protocol/resp/request_parser.h"
#include "server/engine/acl/access_control.h"
#include "server/engine/client/client.h"
#include "server/engine/config/settings.h"

namespace zsetd {

// What the client may send. It changes with the request that says who the client is.
RequestLimits RequestLimitsFor(const Client& client, const Settings& settings,
                               const AccessControl& access);

// Whether more of what the client sent is kept for it, unread or in a transaction, than may be
// (client-query-buffer-limit; 1 MB before it has said who it is): it is to be closed.
bool SendsTooMuch(const Client& client, const Settings& settings, const AccessControl& access);

// Whether more is unsent than is kept for a client that has not said who it is.
bool LeavesTooMuchUnread(const Client& client, const AccessControl& access);

}  // namespace zsetd
