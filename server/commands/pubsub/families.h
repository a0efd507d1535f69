#pragma once

#include <array>
#include <span>

#include "server/engine/command/command.h"

namespace zsetd {

// The rows of each family of commands, at the end of the file with the family's name.
std::span<const Command> PubSubCommands();
std::span<const Command> PubSubInfoCommands();

// The families of this folder.
inline auto PubSubFamilies() {
  return std::to_array({
      PubSubCommands(),
      PubSubInfoCommands(),
  });
}

}  // namespace zsetd
