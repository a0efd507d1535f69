#include <algorithm>
#include <string_view>
#include <utility>

#include "protocol/text/number_text.h"
#include "server/commands/all_commands.h"
#include "server/engine/admin_call.h"
#include "server/engine/services.h"

namespace zsetd {
namespace {

// Seconds and microseconds since the Unix epoch.
void Time(AdminCall& call) {
  const int64_t micros = call.engine.host().wall_clock().count();
  call.reply.Array(2);
  call.reply.Bulk(IntegerText(micros / 1'000'000));
  call.reply.Bulk(IntegerText(micros % 1'000'000));
}

struct ShutdownOptions {
  bool save = false;
  bool nosave = false;
  bool now = false;  // waits for no replica; there are none
  bool force = false;
  bool abort = false;
};

constexpr std::pair<std::string_view, bool ShutdownOptions::*> kShutdownOptions[] = {
    {"save", &ShutdownOptions::save},   {"nosave", &ShutdownOptions::nosave},
    {"now", &ShutdownOptions::now},     {"force", &ShutdownOptions::force},
    {"abort", &ShutdownOptions::abort},
};

ShutdownOptions ReadShutdownOptions(ArgReader& args) {
  ShutdownOptions options;
  while (args.ok() && !args.AtEnd()) {
    const auto taken = std::ranges::find_if(
        kShutdownOptions, [&](const auto& option) { return args.Take(option.first); });
    if (taken == std::end(kShutdownOptions)) {
      args.Refuse(kSyntaxError);
    } else {
      options.*taken->second = true;
    }
  }
  const bool others = options.save || options.nosave || options.now || options.force;
  if ((options.save && options.nosave) || (options.abort && others)) args.Refuse(kSyntaxError);
  return options;
}

// The client gets no reply; its connection is closed.
void Shutdown(AdminCall& call) {
  const ShutdownOptions options = ReadShutdownOptions(call.args);
  if (call.Refused()) return;
  if (options.abort) return call.Fail("ERR No shutdown in progress.");
  if (call.engine.executor().IsSuspended() && !options.nosave) {
    return call.Fail(
        "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.");
  }
  if (Persistence* persistence = call.engine.services().persistence) {
    const absl::Status saved = persistence->SaveBeforeExit(options.save, options.nosave);
    if (!saved.ok() && !options.force) {
      return call.Fail("ERR Errors trying to SHUTDOWN. Check logs.");
    }
  }
  call.client.connection.close_after_reply = true;
  call.engine.host().shut_down();
}

constexpr Command kCommands[] = {
    {.name = "time",
     .run = Time,
     .arity = 1,
     .flags = kLoading | kStale | kFast,
     .group = CommandGroup::kServer,
     .since = "2.6.0",
     .summary = "Returns the server time as Unix seconds and microseconds.",
     .cost = "O(1)",
     .tips = "nondeterministic_output"},
    {.name = "shutdown",
     .run = Shutdown,
     .arity = -1,
     .flags = kAdmin | kNoScript | kLoading | kStale | kNoMulti | kAllowBusy,
     .group = CommandGroup::kServer,
     .since = "1.0.0",
     .usage = "[NOSAVE|SAVE] [NOW] [FORCE] [ABORT]",
     .summary =
         "Saves a snapshot and shuts the server down after replying to requests already received.",
     .cost = "O(N) for N elements if a snapshot is saved"},
};

}  // namespace

std::span<const Command> ServerCommands() { return kCommands; }

}  // namespace zsetd
