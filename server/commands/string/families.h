#pragma once

#include <array>
#include <span>

#include "server/engine/command/command.h"

namespace zsetd {

// The rows of each family of commands, at the end of the file with the family's name.
std::span<const Command> BitCommands();
std::span<const Command> BitFieldCommands();
std::span<const Command> BitOperationCommands();
std::span<const Command> LcsCommands();
std::span<const Command> StringCounterCommands();
std::span<const Command> StringGetCommands();
std::span<const Command> StringRangeCommands();
std::span<const Command> StringSetCommands();

// The families of this folder.
inline auto StringFamilies() {
  return std::to_array({
      BitCommands(),
      BitFieldCommands(),
      BitOperationCommands(),
      LcsCommands(),
      StringCounterCommands(),
      StringGetCommands(),
      StringRangeCommands(),
      StringSetCommands(),
  });
}

}  // namespace zsetd
