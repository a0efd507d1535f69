#pragma once

#include <array>
#include <span>

#include "server/engine/command/command.h"

namespace zsetd {

// The rows of each family of commands, at the end of the file with the family's name.
std::span<const Command> FunctionCommands();
std::span<const Command> ScriptCommands();

// The families of this folder.
inline auto ScriptingFamilies() {
  return std::to_array({
      FunctionCommands(),
      ScriptCommands(),
  });
}

}  // namespace zsetd
