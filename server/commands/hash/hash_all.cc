#include <cstddef>
#include <string_view>

#include "server/commands/all_commands.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

// Replies with what `reply` writes for each field, after the header that `start` writes for their
// number.
template <class Start, class Reply>
void ReplyAll(Call& call, Start start, Reply reply) {
  const Hash* hash = call.Find<Hash>(call.args.Word());
  if (call.Refused()) return;
  start(hash == nullptr ? 0 : hash->size());
  if (hash != nullptr) hash->ForEach(reply);
}

void HKeys(Call& call) {
  ReplyAll(
      call, [&](size_t size) { call.reply.Array(size); },
      [&](const Field& field) { call.reply.Bulk(field.name); });
}

void HVals(Call& call) {
  ReplyAll(
      call, [&](size_t size) { call.reply.Array(size); },
      [&](const Field& field) { call.reply.Bulk(field.value); });
}

void HGetAll(Call& call) {
  ReplyAll(
      call, [&](size_t size) { call.reply.Map(size); },
      [&](const Field& field) {
        call.reply.Bulk(field.name);
        call.reply.Bulk(field.value);
      });
}

constexpr Command kCommands[] = {
    {.name = "hkeys",
     .run = HKeys,
     .arity = 2,
     .flags = kReadOnly,
     .keys = kOneKey,
     .group = CommandGroup::kHash,
     .since = "2.0.0",
     .usage = "key",
     .summary = "Returns all field names.",
     .cost = "O(N) for N fields",
     .tips = "nondeterministic_output_order"},
    {.name = "hvals",
     .run = HVals,
     .arity = 2,
     .flags = kReadOnly,
     .keys = kOneKey,
     .group = CommandGroup::kHash,
     .since = "2.0.0",
     .usage = "key",
     .summary = "Returns all values.",
     .cost = "O(N) for N fields",
     .tips = "nondeterministic_output_order"},
    {.name = "hgetall",
     .run = HGetAll,
     .arity = 2,
     .flags = kReadOnly,
     .keys = kOneKey,
     .group = CommandGroup::kHash,
     .since = "2.0.0",
     .usage = "key",
     .summary = "Returns all fields and values.",
     .cost = "O(N) for N fields",
     .tips = "nondeterministic_output_order"},
};

}  // namespace

std::span<const Command> HashAllCommands() { return kCommands; }

}  // namespace zsetd
