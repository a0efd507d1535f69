#pragma once

#include <cstdint>
#include <string_view>

#include "server/engine/call.h"

namespace zsetd {

// What the commands of scripts and those of functions share, where there are none of either.

constexpr uint32_t kScriptFlags =
    kNoScript | kStale | kSkipMonitor | kMovableKeys | kNoMandatoryKeys;
constexpr KeyPlaces kKeysBehindCount = {.count_at = 2};

inline void KillScript(Call& call) { call.Fail("NOTBUSY No scripts in execution right now."); }

// Forgets all there are: none. Fails with `error` unless what is left is nothing, SYNC or ASYNC.
inline void FlushScripts(Call& call, std::string_view error) {
  const bool has_mode = !call.args.AtEnd();
  const bool is_known = call.args.Take("sync") || call.args.Take("async");
  if (!call.args.AtEnd() || is_known != has_mode) return call.Fail(error);
  call.reply.Ok();
}

}  // namespace zsetd
