#include "server/commands/families.h"

namespace zsetd {

std::span<const Command> ZSetPopCommands() { return {}; }

}  // namespace zsetd
