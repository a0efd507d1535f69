#pragma once

#include <array>
#include <span>

#include "server/engine/command/command.h"

namespace zsetd {

// The rows of each family of commands, at the end of the file with the family's name.
std::span<const Command> SetEditCommands();
std::span<const Command> SetOperationCommands();
std::span<const Command> SetRandomCommands();
std::span<const Command> SetReadCommands();
std::span<const Command> SetScanCommands();

// The families of this folder.
inline auto SetFamilies() {
  return std::to_array({
      SetEditCommands(),
      SetOperationCommands(),
      SetRandomCommands(),
      SetReadCommands(),
      SetScanCommands(),
  });
}

}  // namespace zsetd
