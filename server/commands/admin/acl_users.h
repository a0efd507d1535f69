#pragma once

#include "server/engine/admin_call.h"

namespace zsetd {

// The subcommands of ACL that list and change users.
void AclDelUser(AdminCall& call);
void AclDryRun(AdminCall& call);
void AclGetUser(AdminCall& call);
void AclList(AdminCall& call);
void AclSetUser(AdminCall& call);
void AclUsers(AdminCall& call);
void AclWhoAmI(AdminCall& call);

}  // namespace zsetd
