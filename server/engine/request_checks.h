#pragma once

#include "absl/status/status.h"
#include "protocol/resp/words.h"
#include "server/engine/acl/access_control.h"
#include "server/engine/client/client.h"
#include "server/engine/command/command.h"
#include "server/engine/config/settings.h"

namespace zsetd {

// Whether this is a request that can be run, as far as that can be said without the client's rules;
// if not, the error to reply. `command` is null if the name is unknown.
absl::Status CheckRequest(const Client& client, const Settings& settings,
                          const AccessControl& access, const Command* command, Words words);

// Whether the client may run the command as it stands now.
absl::Status CheckContext(const Client& client, const Command& command);

// Whether the client may do what a setting keeps for no one, for all ("yes"), or for who is on this
// machine ("local").
bool MayDoProtected(const Client& client, std::string_view allowed);

// Whether this is the first line of an HTTP request, or the one of its head that names the host.
// GET is a command.
bool IsHttp(Words words);

// For a command that has subcommands, and can be run without one: that the second word is none.
absl::Status UnknownSubcommand(const Command& command, Words words);

}  // namespace zsetd
