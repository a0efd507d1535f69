#include <cstdint>
#include <limits>

#include "server/commands/common/database_index.h"
#include "server/commands/key/families.h"
#include "server/engine/admin_call.h"
#include "server/engine/services/services.h"
#include "server/engine/services/snapshot_control.h"

namespace zsetd {
namespace {

void DbSize(AdminCall& call) {
  call.reply.Integer(static_cast<int64_t>(call.keys.all().visible_size()));
}

// SYNC and ASYNC have the same effect: the keys are deleted immediately and freed in the
// background.
void TakeFlushMode(ArgReader& args) {
  if (!args.Take("async")) args.Take("sync");
  args.End();
}

void FlushDb(AdminCall& call) {
  TakeFlushMode(call.args);
  if (call.Refused()) return;
  call.keys.Clear();
  call.PropagateRequest();
  call.reply.Ok();
}

void FlushAll(AdminCall& call) {
  TakeFlushMode(call.args);
  if (call.Refused()) return;
  call.engine.store().ClearAll();
  call.engine.services().snapshots->OnFlushAll();
  call.PropagateRequest();
  call.reply.Ok();
}

void SwapDb(AdminCall& call) {
  if (call.keys.is_clustered()) return call.Fail("ERR SWAPDB is not allowed in cluster mode");
  using Int = std::numeric_limits<int32_t>;
  const int64_t a = call.args.IntegerIn(Int::min(), Int::max(), "ERR invalid first DB index");
  const int64_t b = call.args.IntegerIn(Int::min(), Int::max(), "ERR invalid second DB index");
  CheckDatabaseIndex(call, a);
  CheckDatabaseIndex(call, b);
  if (call.Refused()) return;
  call.keys.SwapDatabases(static_cast<int>(a), static_cast<int>(b));
  call.reply.Ok();
}

constexpr Command kDatabaseCommands[] = {
    {.name = "dbsize",
     .run = DbSize,
     .arity = 1,
     .flags = kReadOnly | kFast,
     .group = CommandGroup::kServer,
     .since = "1.0.0",
     .summary = "Returns the number of keys in the database.",
     .cost = "O(1)",
     .tips = "request_policy:all_shards response_policy:agg_sum"},
    {.name = "flushdb",
     .run = FlushDb,
     .arity = -1,
     .flags = kWrite | kDangerous,
     .group = CommandGroup::kServer,
     .since = "1.0.0",
     .usage = "[ASYNC|SYNC]",
     .summary = "Deletes all keys of the database.",
     .cost = "O(1)",
     .tips = "request_policy:all_shards response_policy:all_succeeded"},
    {.name = "flushall",
     .run = FlushAll,
     .arity = -1,
     .flags = kWrite | kDangerous,
     .group = CommandGroup::kServer,
     .since = "1.0.0",
     .usage = "[ASYNC|SYNC]",
     .summary = "Deletes all keys of all databases.",
     .cost = "O(1)",
     .tips = "request_policy:all_shards response_policy:all_succeeded"},
    {.name = "swapdb",
     .run = SwapDb,
     .arity = 3,
     .flags = kWrite | kFast | kDangerous,
     .group = CommandGroup::kServer,
     .since = "4.0.0",
     .usage = "index1 index2",
     .summary = "Swaps two databases.",
     .cost = "O(N) for N keys watched"},
};

}  // namespace

std::span<const Command> DatabaseCommands() { return kDatabaseCommands; }

}  // namespace zsetd
