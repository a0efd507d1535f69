#pragma once

#include <array>
#include <span>

#include "server/engine/command/command.h"

namespace zsetd {

// The rows of each family of commands, at the end of the file with the family's name.
std::span<const Command> DatabaseCommands();
std::span<const Command> DumpCommands();
std::span<const Command> KeyCommands();
std::span<const Command> KeyExpireCommands();
std::span<const Command> KeyMoveCommands();
std::span<const Command> KeyTtlCommands();
std::span<const Command> MigrateCommands();
std::span<const Command> ObjectCommands();
std::span<const Command> ScanCommands();
std::span<const Command> SortCommands();

// The families of this folder.
inline auto KeyFamilies() {
  return std::to_array({
      DatabaseCommands(),
      DumpCommands(),
      KeyCommands(),
      KeyExpireCommands(),
      KeyMoveCommands(),
      KeyTtlCommands(),
      MigrateCommands(),
      ObjectCommands(),
      ScanCommands(),
      SortCommands(),
  });
}

}  // namespace zsetd
