#include "server/commands/families.h"

#include <array>

namespace zsetd {

std::span<const std::span<const Command>> AllCommands() {
  static const std::array kFamilies = {
      ConfigCommands(),      ConnectionCommands(), KeyCommands(),      ListCommands(),
      PubSubCommands(),      ScanCommands(),       ServerCommands(),   StringCommands(),
      TransactionCommands(), ZSetEditCommands(),   ZSetReadCommands(), ZSetRangeCommands(),
      ZSetAlgebraCommands(), ZSetPopCommands(),
  };
  return kFamilies;
}

}  // namespace zsetd
