#pragma once

#include "protocol/resp/reply_writer.h"
#include "server/engine/command/command_table.h"

namespace zsetd {

// The COMMAND DOCS of a command: its full name, and a map of its summary, its arguments, its
// subcommands. redis-cli makes its hints of this.
void ReplyCommandDocs(ReplyWriter& reply, const CommandTable& table, const Command& command);

}  // namespace zsetd
