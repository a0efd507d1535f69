#include "server/commands/families.h"

namespace zsetd {

std::span<const Command> ZSetEditCommands() { return {}; }

}  // namespace zsetd
