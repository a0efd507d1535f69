#pragma once

#include <string_view>
#include <vector>

#include "protocol/resp/reply_writer.h"
#include "server/engine/command/command_table.h"

namespace zsetd {

// Replies the words of `use`, which describe how keys are used, as a set.
void ReplyKeyFlags(ReplyWriter& reply, std::string_view use);

// Replies the COMMAND INFO of a command and its subcommands.
void ReplyCommandInfo(ReplyWriter& reply, const CommandTable& table, const Command& command);

}  // namespace zsetd
