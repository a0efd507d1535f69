#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "server/engine/admin_call.h"
#include "server/engine/scripting.h"

namespace zsetd {

// Shared parts of the commands of scripts and of functions.

constexpr uint32_t kScriptFlags =
    kNoScript | kStale | kSkipMonitor | kMovableKeys | kNoMandatoryKeys;
constexpr KeyPlaces kKeysBehindCount = {.count_at = 2};

// The flags of a request for a script that declares this, or declares nothing. As in Redis: a
// script that declares its flags writes and takes memory, unless they say that it does not.
uint32_t FlagsOfScript(const Command& row, const std::optional<ScriptDeclaration>& declaration);

// The runner of scripts; null without one, and then the error has been replied.
Scripting* ScriptingOf(AdminCall& call);

// Shows the call to those who MONITOR, before the commands that it runs.
void SendToMonitors(AdminCall& call);

// Reads "numkeys [key ...] [arg ...]". `bad_count` is for a count that is no number. Refuses the
// rest of the arguments, if they are wrong.
ScriptArguments ReadScriptArguments(AdminCall& call, std::string_view bad_count);

// SCRIPT KILL and FUNCTION KILL.
void KillRunning(AdminCall& call, bool function);

// Whether the remaining arguments are SYNC, ASYNC or none; if not, fails with `error`.
bool ReadFlushMode(AdminCall& call, std::string_view error);

}  // namespace zsetd
