#include "server/commands/diagnostics/families.h"
#include "server/engine/admin_call.h"

namespace zsetd {
namespace {

// As in Redis, a client that is already a monitor or a replica receives no reply.
void Monitor(AdminCall& call) {
  if (call.caller.transaction.open) {
    return call.Fail("ERR MONITOR isn't allowed for DENY BLOCKING client");
  }
  if (call.client().monitors() || call.client().IsReplica()) return;
  call.engine.notifier().StartMonitoring(call.client());
  call.reply.Ok();
}

constexpr Command kMonitorCommands[] = {
    {.name = "monitor",
     .run = Monitor,
     .arity = 1,
     .flags = kAdmin | kNoScript | kLoading | kStale,
     .group = CommandGroup::kServer,
     .since = "1.0.0",
     .summary = "Streams every command as it is processed.",
     .cost = "O(N) for N bytes of each command, per monitoring client"},
};

}  // namespace

std::span<const Command> MonitorCommands() { return kMonitorCommands; }

}  // namespace zsetd
