#include "server/commands/families.h"

namespace zsetd {

std::span<const Command> ServerCommands() { return {}; }

}  // namespace zsetd
