#pragma once

#include "server/engine/call.h"

namespace zsetd {

// The HELP of every command with subcommands: how each is called and what it does, as their rows
// tell it.
void Help(Call& call);

}  // namespace zsetd
