#pragma once

#include "absl/status/status.h"
#include "protocol/resp/args.h"
#include "server/engine/client/client.h"
#include "server/engine/command/command.h"
#include "server/engine/config/settings.h"

namespace zsetd {

// Whether the client may use what one of the settings enable-... permits.
bool MayDoProtected(const Client& client, DangerousAccess allowed);

// Whether the server would keep more for the client, apart from keys, than each client may have in
// any case.
bool MayKeepMore(const Client& client, const Command& command, Args argv);

// Whether the request, which has these flags, may take memory: for keys, or as above.
bool MayTakeMemory(const Client& client, const Command& command, uint32_t flags, Args argv);

// Whether this is the first line of an HTTP request, or its Host header. GET is a command.
bool IsHttp(Args argv);

// The error of an unknown command.
absl::Status UnknownCommand(Args argv);

// The error of an unknown subcommand, for a command that can also be run without one.
absl::Status UnknownSubcommand(const Command& command, Args argv);

}  // namespace zsetd
