#pragma once

#include <string_view>
#include <vector>

#include "protocol/resp/reply_writer.h"
#include "server/engine/command/command_table.h"

namespace zsetd {

// How keys are used, as a set of the words of `use`.
void ReplyKeyFlags(ReplyWriter& reply, std::string_view use);

// The COMMAND INFO of a command, and of its subcommands.
void ReplyCommandInfo(ReplyWriter& reply, const CommandTable& table, const Command& command);

}  // namespace zsetd
