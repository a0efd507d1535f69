#pragma once

#include <array>
#include <span>

#include "server/engine/command/command.h"

namespace zsetd {

// The rows of each family of commands, at the end of the file with the family's name.
std::span<const Command> ClusterCommands();
std::span<const Command> ClusterModeCommands();

// The families of this folder.
inline auto ClusterFamilies() {
  return std::to_array({
      ClusterCommands(),
      ClusterModeCommands(),
  });
}

}  // namespace zsetd
