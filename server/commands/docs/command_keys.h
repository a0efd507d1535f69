#pragma once

#include "server/engine/admin_call.h"

namespace zsetd {

// COMMAND GETKEYS and GETKEYSANDFLAGS: which arguments of the given request are keys, and how the
// command uses them.
void CommandGetKeys(AdminCall& call);
void CommandGetKeysAndFlags(AdminCall& call);

}  // namespace zsetd
