#pragma once

#include "absl/status/status.h"
#include "protocol/resp/args.h"
#include "server/engine/acl/access_control.h"
#include "server/engine/client/client.h"
#include "server/engine/command/command.h"
#include "server/engine/config/settings.h"

namespace zsetd {

// Checks a request, except for the user's permissions; returns the error to reply. `command` is
// null if the name is unknown.
absl::Status CheckRequest(const Client& client, const Settings& settings,
                          const AccessControl& access, const Command* command, Args argv);

// Whether the client may run the command in its present state.
absl::Status CheckContext(const Client& client, const Command& command);

// Whether the client may use what one of the settings enable-... permits.
bool MayDoProtected(const Client& client, DangerousAccess allowed);

// Whether the server would keep more for the client, apart from keys, than each client may have in
// any case.
bool MayKeepMore(const Client& client, const Command& command, Args argv);

// Whether the request, which has these flags, may take memory: for keys, or as above.
bool MayTakeMemory(const Client& client, const Command& command, uint32_t flags, Args argv);

// Whether this is the first line of an HTTP request, or its Host header. GET is a command.
bool IsHttp(Args argv);

// The error of an unknown subcommand, for a command that can also be run without one.
absl::Status UnknownSubcommand(const Command& command, Args argv);

}  // namespace zsetd
