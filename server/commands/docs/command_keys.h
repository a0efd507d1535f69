#pragma once

#include "server/engine/call.h"

namespace zsetd {

// COMMAND GETKEYS and GETKEYSANDFLAGS: which arguments of the given request are keys, and how the
// command uses them.
void CommandGetKeys(Call& call);
void CommandGetKeysAndFlags(Call& call);

}  // namespace zsetd
