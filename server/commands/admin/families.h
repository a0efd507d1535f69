#pragma once

#include <array>
#include <span>

#include "server/engine/command/command.h"

namespace zsetd {

// The rows of each family of commands, at the end of the file with the family's name.
std::span<const Command> AclCommands();
std::span<const Command> ConfigCommands();
std::span<const Command> ModuleCommands();
std::span<const Command> ReplicationCommands();
std::span<const Command> ServerCommands();
std::span<const Command> SnapshotCommands();

// The families of this folder.
inline auto AdminFamilies() {
  return std::to_array({
      AclCommands(),
      ConfigCommands(),
      ModuleCommands(),
      ReplicationCommands(),
      ServerCommands(),
      SnapshotCommands(),
  });
}

}  // namespace zsetd
