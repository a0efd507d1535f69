#include "server/commands/all_commands.h"
#include "server/commands/diagnostics/info_sections.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

void Info(Call& call) { call.reply.Verbatim("txt", InfoText(call.engine, call.args.Rest())); }

constexpr Command kCommands[] = {
    {.name = "info",
     .run = Info,
     .arity = -1,
     .flags = kLoading | kStale | kDangerous,
     .group = CommandGroup::kServer,
     .since = "1.0.0",
     .usage = "[section [section ...]]",
     .summary = "Returns server information and statistics.",
     .cost = "O(N) for N clients",
     .tips = "nondeterministic_output request_policy:all_shards response_policy:special"},
};

}  // namespace

std::span<const Command> InfoCommands() { return kCommands; }

}  // namespace zsetd
