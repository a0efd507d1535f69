#pragma once

#include "server/engine/call.h"

namespace zsetd {

// CLIENT KILL, in its old form (an address) and its new one (filters).
void ClientKill(Call& call);

}  // namespace zsetd
