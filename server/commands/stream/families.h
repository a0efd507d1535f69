#pragma once

#include <array>
#include <span>

#include "server/engine/command/command.h"

namespace zsetd {

// The rows of each family of commands, at the end of the file with the family's name.
std::span<const Command> StreamAddCommands();
std::span<const Command> StreamClaimCommands();
std::span<const Command> StreamDeleteCommands();
std::span<const Command> StreamDeleteReferencesCommands();
std::span<const Command> StreamGroupCommands();
std::span<const Command> StreamInfoCommands();
std::span<const Command> StreamPendingCommands();
std::span<const Command> StreamProducersConfigCommands();
std::span<const Command> StreamRangeCommands();
std::span<const Command> StreamReadCommands();
std::span<const Command> StreamReadGroupCommands();
std::span<const Command> StreamReleaseCommands();

// The families of this folder.
inline auto StreamFamilies() {
  return std::to_array({
      StreamAddCommands(),
      StreamClaimCommands(),
      StreamDeleteCommands(),
      StreamDeleteReferencesCommands(),
      StreamGroupCommands(),
      StreamInfoCommands(),
      StreamPendingCommands(),
      StreamProducersConfigCommands(),
      StreamRangeCommands(),
      StreamReadCommands(),
      StreamReadGroupCommands(),
      StreamReleaseCommands(),
  });
}

}  // namespace zsetd
