#include <string_view>

#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

// SAMPLES, with which Redis bounds its estimate, changes nothing here: the bytes are known.
void Usage(Call& call) {
  const std::string_view key = call.args.Word();
  while (call.args.ok() && !call.args.AtEnd()) {
    const bool samples = call.args.Take("samples") && call.args.left() > 0;
    if (!samples || call.args.Integer() < 0) call.args.Refuse(kSyntaxError);
  }
  if (call.Refused()) return;
  const Keyspace& keys = call.database().keys();
  const Entry* entry = keys.Find(key);
  if (entry == nullptr) return call.reply.Null();
  call.reply.Integer(static_cast<int64_t>(keys.BytesUsedBy(*entry)));
}

constexpr Command kCommands[] = {
    {.name = "memory",
     .arity = -2,
     .group = CommandGroup::kServer,
     .since = "4.0.0",
     .summary = "Tells what takes memory.",
     .cost = "That of the subcommand"},
    {.name = "memory|help",
     .run = Help,
     .arity = 2,
     .flags = kLoading | kStale,
     .group = CommandGroup::kServer,
     .since = "4.0.0",
     .summary = "Prints this.",
     .cost = "O(1)"},
    {.name = "memory|usage",
     .run = Usage,
     .arity = -3,
     .flags = kReadOnly,
     .keys = {2, 2, 1},
     .group = CommandGroup::kServer,
     .since = "4.0.0",
     .usage = "key [SAMPLES count]",
     .summary = "Tells how many bytes a key costs, and all that it holds.",
     .cost = "O(1), for a list O(N) for N chunks of 8 KB"},
};

}  // namespace

std::span<const Command> MemoryCommands() { return kCommands; }

}  // namespace zsetd
