#include "server/commands/families.h"
#include "server/commands/info_sections.h"
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
     .summary = "Tells of the server: versions, clients, memory, counts, keys.",
     .cost = "O(N) for N clients"},
};

}  // namespace

std::span<const Command> InfoCommands() { return kCommands; }

}  // namespace zsetd
