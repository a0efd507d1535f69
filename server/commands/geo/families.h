#pragma once

#include <array>
#include <span>

#include "server/engine/command/command.h"

namespace zsetd {

// The rows of each family of commands, at the end of the file with the family's name.
std::span<const Command> GeoCommands();
std::span<const Command> GeoSearchCommands();

// The families of this folder.
inline auto GeoFamilies() {
  return std::to_array({
      GeoCommands(),
      GeoSearchCommands(),
  });
}

}  // namespace zsetd
