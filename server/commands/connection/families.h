#pragma once

#include <array>
#include <span>

#include "server/engine/command/command.h"

namespace zsetd {

// The rows of each family of commands, at the end of the file with the family's name.
std::span<const Command> AuthCommands();
std::span<const Command> ClientCommands();
std::span<const Command> ClientTrackingCommands();
std::span<const Command> ConnectionCommands();

// The families of this folder.
inline auto ConnectionFamilies() {
  return std::to_array({
      AuthCommands(),
      ClientCommands(),
      ClientTrackingCommands(),
      ConnectionCommands(),
  });
}

}  // namespace zsetd
