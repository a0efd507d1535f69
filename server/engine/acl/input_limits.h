#pragma once

#include "protocol/resp/request_parser.h"
#include "server/engine/acl/access_control.h"
#include "server/engine/client/client.h"
#include "server/engine/config/settings.h"

namespace zsetd {

// The limits of the client's input. They change with the request that authenticates it.
RequestLimits RequestLimitsFor(const Client& client, const Settings& settings,
                               const AccessControl& access);

// Whether more of what the client sent is kept for it, unread or in a transaction, than may be
// (client-query-buffer-limit; 1 MB before authentication): it must be closed.
bool SendsTooMuch(const Client& client, const Settings& settings, const AccessControl& access);

// Whether more output is pending than the limit of an unauthenticated client.
bool LeavesTooMuchUnread(const Client& client, const AccessControl& access);

}  // namespace zsetd
