#include <string>
#include <string_view>
#include <utility>

#include "protocol/text/number_text.h"
#include "server/commands/admin/families.h"
#include "server/engine/admin_call.h"
#include "server/engine/call.h"
#include "server/engine/support/redis_version.h"

namespace zsetd {
namespace {

// Replies the Unix time in seconds and microseconds.
void Time(AdminCall& call) {
  const int64_t micros = call.engine.host().wall_clock().count();
  call.reply.Array(2);
  call.reply.Bulk(IntegerText(micros / 1'000'000));
  call.reply.Bulk(IntegerText(micros % 1'000'000));
}

// Reads the options. Sets `aborts` if a shutdown is to be cancelled instead.
ShutdownOptions ReadShutdownOptions(ArgReader& args, bool& aborts) {
  ShutdownOptions options;
  while (args.ok() && !args.AtEnd()) {
    if (args.Take("abort")) {
      aborts = true;
    } else if (!options.Add(args.Word())) {
      args.Refuse(kSyntaxError);
    }
  }
  const bool aborts_with_others = aborts && options != ShutdownOptions();
  if (options.Contradicts() || aborts_with_others) args.Refuse(kSyntaxError);
  return options;
}

void AbortShutdown(AdminCall& call) {
  if (!call.engine.shutdown().Abort()) return call.Fail("ERR No shutdown in progress.");
  call.reply.Ok();
}

// The client receives no reply. Its connection is closed at the end of the shutdown, which may wait
// for replicas.
void RunShutdown(AdminCall& call) {
  bool aborts = false;
  const ShutdownOptions options = ReadShutdownOptions(call.args, aborts);
  if (call.Refused()) return;
  if (aborts) return AbortShutdown(call);
  if (!call.engine.mode().IsBetweenUnits() && !options.nosave) {
    return call.Fail(call.engine.suspended_unit().BusyError());
  }
  Shutdown& shutdown = call.engine.shutdown();
  switch (shutdown.Start(options)) {
    case Shutdown::State::kReplicas:
      return shutdown.Await(call.client());
    case Shutdown::State::kEnds:
      call.client().connection.close_after_reply = true;
      return;
    default:
      return call.Fail("ERR Errors trying to SHUTDOWN. Check logs.");
  }
}

// Redis draws a picture that depends on the version. zsetd prints only the line below it.
void Lolwut(Call& call) {
  if (call.args.left() > 1 && call.args.Take("version")) call.args.Integer();
  if (call.Refused()) return;
  call.reply.Verbatim("txt",
                      "zsetd " ZSETD_VERSION ", Redis ver. " + std::string(kRedisVersion) + "\n");
}

constexpr Command kServerCommands[] = {
    {.name = "time",
     .run = Time,
     .arity = 1,
     .flags = kLoading | kStale | kFast,
     .inspects = true,
     .group = CommandGroup::kServer,
     .since = "2.6.0",
     .summary = "Returns the server time as Unix seconds and microseconds.",
     .cost = "O(1)",
     .tips = "nondeterministic_output"},
    {.name = "shutdown",
     .run = RunShutdown,
     .arity = -1,
     .flags = kAdmin | kNoScript | kLoading | kStale | kNoMulti | kAllowBusy,
     .group = CommandGroup::kServer,
     .since = "1.0.0",
     .usage = "[NOSAVE|SAVE] [NOW] [FORCE] [ABORT]",
     .summary = "Waits for replicas, saves a snapshot and shuts the server down.",
     .cost = "O(N) for N elements if a snapshot is saved"},
    {.name = "lolwut",
     .run = Lolwut,
     .arity = -1,
     .flags = kReadOnly | kFast,
     .group = CommandGroup::kServer,
     .since = "5.0.0",
     .usage = "[VERSION version]",
     .summary = "Returns the version of the server.",
     .cost = "O(1)",
     .categories = ""},
};

}  // namespace

std::span<const Command> ServerCommands() { return kServerCommands; }

}  // namespace zsetd
