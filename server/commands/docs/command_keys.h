#pragma once

#include "server/engine/admin_call.h"

namespace zsetd {

// COMMAND GETKEYS and GETKEYSANDFLAGS: the arguments of the given request that are keys, and how
// the command uses them.
void CommandGetKeys(AdminCall& call);
void CommandGetKeysAndFlags(AdminCall& call);

}  // namespace zsetd
