#pragma once

#include <span>

#include "server/engine/command/command.h"

namespace zsetd {

// The rows of all families of commands. Each folder lists its families in its families.h.
std::span<const std::span<const Command>> AllCommands();

}  // namespace zsetd
