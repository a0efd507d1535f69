#pragma once

#include "server/engine/call.h"

namespace zsetd {

// ACL LOG: what was refused lately, or that it is to be forgotten.
void AclLogCommand(Call& call);

}  // namespace zsetd
