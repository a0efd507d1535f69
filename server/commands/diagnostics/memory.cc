#include <string>
#include <string_view>

#include "server/commands/common/help.h"
#include "server/commands/diagnostics/families.h"
#include "server/commands/diagnostics/memory_report.h"
#include "server/engine/admin_call.h"
#include "server/engine/support/allocator_stats.h"

namespace zsetd {
namespace {

// SAMPLES has no effect. Redis uses it to bound its estimate, but here the bytes are known.
void Usage(AdminCall& call) {
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

// Replies OK even if the allocator cannot purge.
void Purge(AdminCall& call) {
  PurgeAllocator();
  call.reply.Ok();
}

void AllocatorText(AdminCall& call) {
  const std::string report = AllocatorReport();
  call.reply.Verbatim("txt", report.empty() ? "The allocator provides no statistics." : report);
}

constexpr Command kMemoryCommands[] = {
    {.name = "memory",
     .arity = -2,
     .group = CommandGroup::kServer,
     .since = "4.0.0",
     .summary = "Memory diagnostics.",
     .cost = "Depends on the subcommand"},
    {.name = "memory|doctor",
     .run = MemoryDoctor,
     .arity = 2,
     .inspects = true,
     .group = CommandGroup::kServer,
     .since = "4.0.0",
     .summary = "Returns a human-readable memory analysis.",
     .cost = "O(N) for N clients",
     .tips = "nondeterministic_output request_policy:all_shards response_policy:special"},
    {.name = "memory|help",
     .run = Help,
     .arity = 2,
     .flags = kLoading | kStale,
     .group = CommandGroup::kServer,
     .since = "4.0.0",
     .summary = "Lists the subcommands.",
     .cost = "O(1)"},
    {.name = "memory|malloc-stats",
     .run = AllocatorText,
     .arity = 2,
     .group = CommandGroup::kServer,
     .since = "4.0.0",
     .summary = "Returns the allocator's statistics.",
     .cost = "O(1)",
     .tips = "nondeterministic_output request_policy:all_shards response_policy:special"},
    {.name = "memory|purge",
     .run = Purge,
     .arity = 2,
     .group = CommandGroup::kServer,
     .since = "4.0.0",
     .summary = "Asks the allocator to release unused memory.",
     .cost = "O(N) for N pages",
     .tips = "request_policy:all_shards response_policy:all_succeeded"},
    {.name = "memory|stats",
     .run = MemoryStats,
     .arity = 2,
     .inspects = true,
     .group = CommandGroup::kServer,
     .since = "4.0.0",
     .summary = "Returns a breakdown of memory use.",
     .cost = "O(N) for N clients",
     .tips = "nondeterministic_output request_policy:all_shards response_policy:special"},
    {.name = "memory|usage",
     .run = Usage,
     .arity = -3,
     .flags = kReadOnly,
     .keys = {2, 2, 1},
     .group = CommandGroup::kServer,
     .since = "4.0.0",
     .usage = "key [SAMPLES count]",
     .summary = "Returns the memory used by a key and its value, in bytes.",
     .cost = "O(1), for a list O(N) for N chunks of 8 KB",
     .key_use = "RO"},
};

}  // namespace

std::span<const Command> MemoryCommands() { return kMemoryCommands; }

}  // namespace zsetd
