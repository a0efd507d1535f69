#pragma once

#include "server/engine/call.h"

namespace zsetd {

// The subcommands of ACL that list and change users.
void AclDelUser(Call& call);
void AclDryRun(Call& call);
void AclGetUser(Call& call);
void AclList(Call& call);
void AclSetUser(Call& call);
void AclUsers(Call& call);
void AclWhoAmI(Call& call);

}  // namespace zsetd
