#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "server/engine/admin_call.h"
#include "server/engine/services/scripting.h"

namespace zsetd {

// Shared parts of the commands of scripts and of functions.

constexpr uint32_t kScriptFlags =
    kNoScript | kStale | kSkipMonitor | kMovableKeys | kNoMandatoryKeys;
constexpr KeyPlaces kKeysBehindCount = {.count_at = 2};

// The flags of a request that runs a script with this declaration, or without one. As in Redis, a
// script that declares flags may write and takes memory, unless a flag excludes it.
uint32_t FlagsOfScript(const Command& row, const std::optional<ScriptDeclaration>& declaration);

// Returns true if scripts can run. Otherwise fails with an error.
bool CanRunScripts(AdminCall& call);

// Sends the call to the monitors before the commands that it runs.
void SendToMonitors(AdminCall& call);

// Takes "numkeys [key ...] [arg ...]". `bad_count` is the error for a count that is not a number.
// Refuses the call if the arguments are wrong.
ScriptArguments ReadScriptArguments(AdminCall& call, std::string_view bad_count);

// SCRIPT KILL and FUNCTION KILL.
void KillRunning(AdminCall& call, bool function);

// Returns true if the remaining arguments are SYNC, ASYNC or none. Otherwise fails with `error`.
bool ReadFlushMode(AdminCall& call, std::string_view error);

}  // namespace zsetd
