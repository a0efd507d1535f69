#pragma once

#include <array>
#include <span>

#include "server/engine/command/command.h"

namespace zsetd {

// The rows of each family of commands, at the end of the file with the family's name.
std::span<const Command> HashCounterCommands();
std::span<const Command> HashEditCommands();
std::span<const Command> HashExpireCommands();
std::span<const Command> HashRandomCommands();
std::span<const Command> HashReadCommands();
std::span<const Command> HashScanCommands();

// The families of this folder.
inline auto HashFamilies() {
  return std::to_array({
      HashCounterCommands(),
      HashEditCommands(),
      HashExpireCommands(),
      HashRandomCommands(),
      HashReadCommands(),
      HashScanCommands(),
  });
}

}  // namespace zsetd
