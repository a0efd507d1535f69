#include <cstdint>
#include <string_view>

#include "server/commands/key/families.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

// DEL and UNLINK: both remove the key immediately and free large values in the background.
void Del(Call& call) {
  int64_t erased = 0;
  for (const std::string_view key : call.args.Rest()) erased += call.keys.Erase(key);
  call.reply.Integer(erased);
}

// EXISTS and TOUCH: a key that is named twice counts twice.
void Exists(Call& call) {
  int64_t found = 0;
  for (const std::string_view key : call.args.Rest()) found += call.keys.Find(key) != nullptr;
  call.reply.Integer(found);
}

void Type(Call& call) {
  const Entry* entry = call.keys.Find(call.args.Word());
  call.reply.Simple(entry == nullptr ? "none" : entry->TypeName());
}

void RandomKey(Call& call) {
  const Entry* entry = call.keys.all().Random(call.keys.rng());
  if (entry == nullptr) {
    call.reply.Null();
  } else {
    call.reply.Bulk(entry->key());
  }
}

constexpr Command kKeyCommands[] = {
    {.name = "del",
     .run = Del,
     .arity = -2,
     .flags = kWrite,
     .keys = kAllKeys,
     .group = CommandGroup::kGeneric,
     .since = "1.0.0",
     .usage = "key [key ...]",
     .summary = "Deletes keys; returns the number deleted.",
     .cost = "O(N) for N keys, and O(M) for M elements of each",
     .key_use = "RM delete",
     .tips = "request_policy:multi_shard response_policy:agg_sum"},
    {.name = "unlink",
     .run = Del,
     .arity = -2,
     .flags = kWrite | kFast,
     .keys = kAllKeys,
     .group = CommandGroup::kGeneric,
     .since = "4.0.0",
     .usage = "key [key ...]",
     .summary = "Deletes keys, like DEL; memory is always freed in the background.",
     .cost = "O(N) for N keys, and O(M) for M elements of each",
     .key_use = "RM delete",
     .tips = "request_policy:multi_shard response_policy:agg_sum"},
    {.name = "exists",
     .run = Exists,
     .arity = -2,
     .flags = kReadOnly | kFast | kNoTouch,
     .keys = kAllKeys,
     .concurrent = true,
     .group = CommandGroup::kGeneric,
     .since = "1.0.0",
     .usage = "key [key ...]",
     .summary = "Counts how many of the keys exist.",
     .cost = "O(N) for N keys",
     .key_use = "RO",
     .tips = "request_policy:multi_shard response_policy:agg_sum"},
    {.name = "touch",
     .run = Exists,
     .arity = -2,
     .flags = kReadOnly | kFast | kAlwaysTouch,
     .keys = kAllKeys,
     .group = CommandGroup::kGeneric,
     .since = "3.2.1",
     .usage = "key [key ...]",
     .summary = "Updates the last access time of keys; returns the number that exist.",
     .cost = "O(N) for N keys",
     .key_use = "RO",
     .tips = "request_policy:multi_shard response_policy:agg_sum"},
    {.name = "type",
     .run = Type,
     .arity = 2,
     .flags = kReadOnly | kFast | kNoTouch,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kGeneric,
     .since = "1.0.0",
     .usage = "key",
     .summary = "Returns the type of the value at a key.",
     .cost = "O(1)",
     .key_use = "RO"},
    {.name = "randomkey",
     .run = RandomKey,
     .arity = 1,
     .flags = kReadOnly,
     .group = CommandGroup::kGeneric,
     .since = "1.0.0",
     .summary = "Returns a random key.",
     .cost = "O(1)",
     .tips = "request_policy:all_shards nondeterministic_output"},
};

}  // namespace

std::span<const Command> KeyCommands() { return kKeyCommands; }

}  // namespace zsetd
