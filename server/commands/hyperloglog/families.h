#pragma once

#include <array>
#include <span>

#include "server/engine/command/command.h"

namespace zsetd {

// The rows of each family of commands, at the end of the file with the family's name.
std::span<const Command> HyperLogLogCommands();
std::span<const Command> HyperLogLogDebugCommands();

// The families of this folder.
inline auto HyperLogLogFamilies() {
  return std::to_array({
      HyperLogLogCommands(),
      HyperLogLogDebugCommands(),
  });
}

}  // namespace zsetd
