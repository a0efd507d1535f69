#pragma once

#include "server/engine/call.h"

namespace zsetd {

// ACL LOG: lists recent denials, or clears them.
void AclLogCommand(Call& call);

}  // namespace zsetd
