#pragma once

#include "server/engine/admin_call.h"

namespace zsetd {

// CLIENT KILL, in its old form (an address) and its new form (filters).
void ClientKill(AdminCall& call);

}  // namespace zsetd
