#include "server/commands/families.h"

namespace zsetd {

std::span<const Command> KeyCommands() { return {}; }

}  // namespace zsetd
