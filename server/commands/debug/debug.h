#pragma once

#include "server/engine/call.h"

namespace zsetd {

// The subcommands of DEBUG that are more than a line or two. Each finds its arguments counted.

void DebugProtocol(Call& call);

void DebugDigest(Call& call);
void DebugDigestValue(Call& call);

void DebugObject(Call& call);
void DebugListpack(Call& call);
void DebugQuicklist(Call& call);
void DebugStringLength(Call& call);
void DebugHashTables(Call& call);
void DebugHashTableOf(Call& call);
void DebugStructSizes(Call& call);

void DebugPopulate(Call& call);
void DebugReload(Call& call);
void DebugLoadLog(Call& call);

}  // namespace zsetd
