#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "server/engine/admin_call.h"
#include "server/engine/scripting.h"

namespace zsetd {

// What the commands of scripts and those of functions share.

constexpr uint32_t kScriptFlags =
    kNoScript | kStale | kSkipMonitor | kMovableKeys | kNoMandatoryKeys;
constexpr KeyPlaces kKeysBehindCount = {.count_at = 2};

// What runs scripts; null if nothing does, which has been replied then.
Scripting* ScriptingOf(AdminCall& call);

// Shows the call to those who MONITOR, before the commands that it runs.
void SendToMonitors(AdminCall& call);

// Reads "numkeys [key ...] [arg ...]". `bad_count` is for a count that is no number. Refuses the
// rest of the arguments, if they are wrong.
ScriptArguments ReadScriptArguments(AdminCall& call, std::string_view bad_count);

// SCRIPT KILL and FUNCTION KILL.
void KillRunning(AdminCall& call, bool function);

// Whether what is left is nothing, SYNC or ASYNC; if not, fails with `error`.
bool ReadFlushMode(AdminCall& call, std::string_view error);

}  // namespace zsetd
