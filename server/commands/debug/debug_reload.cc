#include "server/commands/debug/debug.h"
#include "server/engine/services/log_control.h"
#include "server/engine/services/services.h"
#include "server/engine/services/snapshot_control.h"

namespace zsetd {

// DEBUG RELOAD [MERGE] [NOFLUSH] [NOSAVE]: saves all data to the snapshot file and loads it again.
void DebugReload(AdminCall& call) {
  ReloadOptions options;
  while (!call.args.AtEnd()) {
    if (call.args.Take("nosave")) {
      options.saves = false;
    } else if (call.args.Take("noflush")) {
      options.flushes = false;
    } else if (call.args.Take("merge")) {
      options.replaces = true;
    } else {
      return call.Fail("ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.");
    }
  }
  if (!call.engine.services().snapshots->LoadAgain(options).ok()) {
    return call.Fail("ERR Error trying to load the RDB dump, check server logs");
  }
  call.reply.Ok();
}

void DebugLoadLog(AdminCall& call) {
  if (!call.engine.services().append_log->LoadLogAgain().ok()) {
    return call.Fail("ERR Error trying to load the AOF files, check server logs");
  }
  call.reply.Ok();
}

}  // namespace zsetd
