#pragma once

#include <array>
#include <span>

#include "server/engine/command/command.h"

namespace zsetd {

// The rows of each family of commands, at the end of the file with the family's name.
std::span<const Command> ZSetAddCommands();
std::span<const Command> ZSetBlockingPopCommands();
std::span<const Command> ZSetExpireCommands();
std::span<const Command> ZSetMoveCommands();
std::span<const Command> ZSetOperationCommands();
std::span<const Command> ZSetPayloadCommands();
std::span<const Command> ZSetPopCommands();
std::span<const Command> ZSetRandomCommands();
std::span<const Command> ZSetRangeCommands();
std::span<const Command> ZSetRankCommands();
std::span<const Command> ZSetReadCommands();
std::span<const Command> ZSetRemoveCommands();
std::span<const Command> ZSetScanCommands();
std::span<const Command> ZSetScoreMoveCommands();

// The families of this folder.
inline auto ZSetFamilies() {
  return std::to_array({
      ZSetAddCommands(),
      ZSetBlockingPopCommands(),
      ZSetExpireCommands(),
      ZSetMoveCommands(),
      ZSetOperationCommands(),
      ZSetPayloadCommands(),
      ZSetPopCommands(),
      ZSetRandomCommands(),
      ZSetRangeCommands(),
      ZSetRankCommands(),
      ZSetReadCommands(),
      ZSetRemoveCommands(),
      ZSetScanCommands(),
      ZSetScoreMoveCommands(),
  });
}

}  // namespace zsetd
