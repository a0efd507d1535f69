#include "server/commands/families.h"

namespace zsetd {

std::span<const Command> ZSetRangeCommands() { return {}; }

}  // namespace zsetd
