#include "server/engine/metrics/slow_log.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

#include "server/commands/common/help.h"
#include "server/commands/diagnostics/families.h"
#include "server/engine/admin_call.h"

namespace zsetd {
namespace {

constexpr int64_t kUsualCount = 10;

void ReplyCommand(ReplyWriter& reply, const SlowCommand& command) {
  reply.Array(6);
  reply.Integer(static_cast<int64_t>(command.id));
  reply.Integer(std::chrono::duration_cast<std::chrono::seconds>(command.at).count());
  reply.Integer(command.took.count());
  reply.Array(command.argv.size());
  for (const std::string& word : command.argv) reply.Bulk(word);
  reply.Bulk(command.address);
  reply.Bulk(command.name);
}

void Get(AdminCall& call) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr std::string_view kBadCount = "ERR count should be greater than or equal to -1";
  const int64_t wanted =
      call.args.AtEnd() ? kUsualCount : call.args.IntegerIn(-1, kMost, kBadCount);
  if (!call.args.AtEnd()) {
    const std::string name(call.argv()[1]);
    call.args.Refuse("ERR unknown subcommand or wrong number of arguments for '" + name +
                     "'. Try SLOWLOG HELP.");
  }
  if (call.Refused()) return;
  const auto& commands = call.engine.metrics().slow_log().commands();
  const size_t count =
      wanted < 0 ? commands.size() : std::min(commands.size(), static_cast<size_t>(wanted));
  call.reply.Array(count);
  for (size_t i = 0; i < count; ++i) ReplyCommand(call.reply, commands[i]);
}

void Len(AdminCall& call) {
  call.reply.Integer(static_cast<int64_t>(call.engine.metrics().slow_log().commands().size()));
}

void ResetEntries(AdminCall& call) {
  call.engine.metrics().slow_log().Reset();
  call.reply.Ok();
}

constexpr uint32_t kSlowLogFlags = kAdmin | kLoading | kStale;

constexpr Command kSlowLogCommands[] = {
    {.name = "slowlog",
     .arity = -2,
     .group = CommandGroup::kServer,
     .since = "2.2.12",
     .summary = "Inspects and clears the slow log.",
     .cost = "Depends on the subcommand"},
    {.name = "slowlog|get",
     .run = Get,
     .arity = -2,
     .flags = kSlowLogFlags,
     .inspects = true,
     .group = CommandGroup::kServer,
     .since = "2.2.12",
     .usage = "[count]",
     .summary = "Returns the latest slow log entries, 10 by default.",
     .cost = "O(N) for N commands returned",
     .tips = "request_policy:all_nodes nondeterministic_output"},
    {.name = "slowlog|help",
     .run = Help,
     .arity = 2,
     .flags = kLoading | kStale,
     .group = CommandGroup::kServer,
     .since = "6.2.0",
     .summary = "Lists the subcommands.",
     .cost = "O(1)"},
    {.name = "slowlog|len",
     .run = Len,
     .arity = 2,
     .flags = kSlowLogFlags,
     .inspects = true,
     .group = CommandGroup::kServer,
     .since = "2.2.12",
     .summary = "Returns the number of slow log entries.",
     .cost = "O(1)",
     .tips = "request_policy:all_nodes response_policy:agg_sum nondeterministic_output"},
    {.name = "slowlog|reset",
     .run = ResetEntries,
     .arity = 2,
     .flags = kSlowLogFlags,
     .group = CommandGroup::kServer,
     .since = "2.2.12",
     .summary = "Clears the slow log.",
     .cost = "O(N) for N slow commands kept",
     .tips = "request_policy:all_nodes response_policy:all_succeeded"},
};

}  // namespace

std::span<const Command> SlowLogCommands() { return kSlowLogCommands; }

}  // namespace zsetd
