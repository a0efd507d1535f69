#pragma once

#include <array>
#include <span>

#include "server/engine/command/command.h"

namespace zsetd {

// The rows of each family of commands, at the end of the file with the family's name.
std::span<const Command> ListBlockingPopCommands();
std::span<const Command> ListEditCommands();
std::span<const Command> ListMoveCommands();
std::span<const Command> ListPushPopCommands();
std::span<const Command> ListReadCommands();
std::span<const Command> ListSearchCommands();

// The families of this folder.
inline auto ListFamilies() {
  return std::to_array({
      ListBlockingPopCommands(),
      ListEditCommands(),
      ListMoveCommands(),
      ListPushPopCommands(),
      ListReadCommands(),
      ListSearchCommands(),
  });
}

}  // namespace zsetd
