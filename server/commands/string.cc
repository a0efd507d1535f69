#include "server/commands/families.h"

namespace zsetd {

std::span<const Command> StringCommands() { return {}; }

}  // namespace zsetd
