#include <string>

#include "server/commands/all_commands.h"
#include "server/commands/common/timeout_option.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

ClientPause::Reach TakeReach(ArgReader& args) {
  if (args.AtEnd() || args.Take("all")) return ClientPause::Reach::kEverything;
  if (!args.Take("write")) args.Refuse("ERR CLIENT PAUSE mode must be WRITE or ALL");
  return ClientPause::Reach::kWrites;
}

void PauseClients(Call& call) {
  if (call.args.left() > 2) {
    return call.Fail("ERR unknown subcommand or wrong number of arguments for '" +
                     std::string(call.argv()[1]) + "'. Try CLIENT HELP.");
  }
  const Millis time = TakeTimeoutMillis(call.args, call.now());
  const ClientPause::Reach reach = TakeReach(call.args);
  if (call.Refused()) return;
  call.engine.pause().Begin(reach, call.now(), call.now() + time);
  call.reply.Ok();
}

void Unpause(Call& call) {
  call.engine.pause().End();
  call.reply.Ok();
}

constexpr uint32_t kFlags = kAdmin | kNoScript | kLoading | kStale;

constexpr Command kCommands[] = {
    {.name = "client|pause",
     .run = PauseClients,
     .arity = -3,
     .flags = kFlags,
     .group = CommandGroup::kConnection,
     .since = "3.0.0",
     .usage = "timeout [WRITE|ALL]",
     .summary = "Suspends all commands, or only writes, for some milliseconds.",
     .cost = "O(1)"},
    {.name = "client|unpause",
     .run = Unpause,
     .arity = 2,
     .flags = kFlags,
     .group = CommandGroup::kConnection,
     .since = "6.2.0",
     .summary = "Resumes commands suspended by CLIENT PAUSE.",
     .cost = "O(N) for N postponed requests"},
};

}  // namespace

std::span<const Command> ClientPauseCommands() { return kCommands; }

}  // namespace zsetd
