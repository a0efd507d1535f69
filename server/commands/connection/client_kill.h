#pragma once

#include "server/engine/admin_call.h"

namespace zsetd {

// CLIENT KILL, in its old form (an address) and its new one (filters).
void ClientKill(AdminCall& call);

}  // namespace zsetd
