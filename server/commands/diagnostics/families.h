#pragma once

#include <array>
#include <span>

#include "server/engine/command/command.h"

namespace zsetd {

// The rows of each family of commands, at the end of the file with the family's name.
std::span<const Command> InfoCommands();
std::span<const Command> LatencyCommands();
std::span<const Command> MemoryCommands();
std::span<const Command> MonitorCommands();
std::span<const Command> SlowLogCommands();

// The families of this folder.
inline auto DiagnosticsFamilies() {
  return std::to_array({
      InfoCommands(),
      LatencyCommands(),
      MemoryCommands(),
      MonitorCommands(),
      SlowLogCommands(),
  });
}

}  // namespace zsetd
