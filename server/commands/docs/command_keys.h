#pragma once

#include "server/engine/call.h"

namespace zsetd {

// COMMAND GETKEYS and GETKEYSANDFLAGS: which words of the request in the arguments are keys, and
// how the command uses them.
void CommandGetKeys(Call& call);
void CommandGetKeysAndFlags(Call& call);

}  // namespace zsetd
