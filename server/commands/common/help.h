#pragma once

#include "server/engine/call.h"

namespace zsetd {

// HELP of every command with subcommands: their usage and summaries, from their rows.
void Help(Call& call);

}  // namespace zsetd
