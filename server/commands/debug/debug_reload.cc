#include "server/commands/debug/debug.h"
#include "server/engine/services/services.h"

namespace zsetd {

// DEBUG RELOAD [MERGE] [NOFLUSH] [NOSAVE]: saves all data to the snapshot file and loads it again.
void DebugReload(AdminCall& call) {
  Persistence::Reload reload;
  while (!call.args.AtEnd()) {
    if (call.args.Take("nosave")) {
      reload.saves = false;
    } else if (call.args.Take("noflush")) {
      reload.flushes = false;
    } else if (call.args.Take("merge")) {
      reload.replaces = true;
    } else {
      return call.Fail("ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.");
    }
  }
  Persistence* persistence = call.engine.services().persistence;
  if (persistence == nullptr || !persistence->LoadAgain(reload).ok()) {
    return call.Fail("ERR Error trying to load the RDB dump, check server logs");
  }
  call.reply.Ok();
}

void DebugLoadLog(AdminCall& call) {
  Persistence* persistence = call.engine.services().persistence;
  if (persistence == nullptr || !persistence->LoadLogAgain().ok()) {
    return call.Fail("ERR Error trying to load the AOF files, check server logs");
  }
  call.reply.Ok();
}

}  // namespace zsetd
