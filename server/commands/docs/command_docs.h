#pragma once

#include "protocol/resp/reply_writer.h"
#include "server/engine/command/command_table.h"

namespace zsetd {

// Replies the COMMAND DOCS of a command: its full name, and a map with its summary, its arguments
// and its subcommands. redis-cli uses this for its hints.
void ReplyCommandDocs(ReplyWriter& reply, const CommandTable& table, const Command& command);

}  // namespace zsetd
