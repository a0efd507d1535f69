#pragma once

#include <span>
#include <string_view>

namespace zsetd {

// A command of Redis (7.0 to 8.x) or Valkey that this server does not have.
struct ForeignCommand {
  std::string_view name;        // in lower case; a subcommand as "xgroup|create"
  std::string_view categories;  // those of Redis, each with its @, a space between them
};

// All of them, in the order of their names. ACL rules and configuration files may name these
// commands although they do not run here: a file that was hardened for Redis ("-bgsave",
// rename-command SAVE "") loads, and its rules are kept for the version that has the command.
//
// Invariant: no name here is that of a row of the table of commands; a command that is implemented
// leaves this table (tests/server/commands/command_table_test.cc).
std::span<const ForeignCommand> AllForeignCommands();

// The command or subcommand of this name, in any case; null if it is not one of them. O(log N).
const ForeignCommand* FindForeignCommand(std::string_view name);

}  // namespace zsetd
