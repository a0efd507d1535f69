#pragma once

#include "absl/status/status.h"
#include "protocol/words.h"
#include "server/engine/client.h"
#include "server/engine/command.h"
#include "server/engine/settings.h"

namespace zsetd {

// Whether the client may run this request as it stands now; if not, the error to reply. `command`
// is null if the name is unknown.
absl::Status Admit(const Client& client, const Settings& settings, const Command* command,
                   Words words);

// For a command that has subcommands, and can be run without one: that the second word is none.
absl::Status UnknownSubcommand(const Command& command, Words words);

}  // namespace zsetd
