#pragma once

#include "server/engine/admin_call.h"

namespace zsetd {

// The larger subcommands of DEBUG. The number of arguments is already checked.

void DebugProtocol(AdminCall& call);

void DebugDigest(AdminCall& call);
void DebugDigestValue(AdminCall& call);

void DebugObject(AdminCall& call);
void DebugListpack(AdminCall& call);
void DebugQuicklist(AdminCall& call);
void DebugStringLength(AdminCall& call);
void DebugHashTables(AdminCall& call);
void DebugHashTableOf(AdminCall& call);
void DebugStructSizes(AdminCall& call);

void DebugPopulate(AdminCall& call);
void DebugReload(AdminCall& call);
void DebugLoadLog(AdminCall& call);

}  // namespace zsetd
