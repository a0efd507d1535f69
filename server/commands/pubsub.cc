#include "server/commands/families.h"

namespace zsetd {

std::span<const Command> PubSubCommands() { return {}; }

}  // namespace zsetd
