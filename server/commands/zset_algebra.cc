#include "server/commands/families.h"

namespace zsetd {

std::span<const Command> ZSetAlgebraCommands() { return {}; }

}  // namespace zsetd
