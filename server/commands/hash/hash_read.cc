#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/keyspace/value.h"
#include "server/commands/hash/families.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

using Value = std::optional<std::string_view>;

Value ValueIn(const Hash* hash, std::string_view name) {
  return hash == nullptr ? std::nullopt : hash->Get(name);
}

// Calls `reply` with the value of the field in the last argument.
template <class Reply>
void ReadField(Call& call, Reply reply) {
  const Hash* hash = call.Find<Hash>(call.args.Word());
  const std::string_view name = call.args.Word();
  if (call.Refused()) return;
  reply(ValueIn(hash, name));
}

void HGet(Call& call) {
  ReadField(call, [&](const Value& value) { call.reply.BulkOrNull(value); });
}

void HExists(Call& call) {
  ReadField(call, [&](const Value& value) { call.reply.Integer(value.has_value()); });
}

void HStrLen(Call& call) {
  ReadField(call, [&](const Value& value) {
    call.reply.Integer(value ? static_cast<int64_t>(value->size()) : 0);
  });
}

void HMGet(Call& call) {
  const Hash* hash = call.Find<Hash>(call.args.Word());
  const Args names = call.args.Rest();
  if (call.Refused()) return;
  call.reply.Array(names.size());
  for (const std::string_view name : names) call.reply.BulkOrNull(ValueIn(hash, name));
}

void HLen(Call& call) {
  const Hash* hash = call.Find<Hash>(call.args.Word());
  if (call.Refused()) return;
  call.reply.Integer(hash == nullptr ? 0 : static_cast<int64_t>(hash->size()));
}

// Calls `start` with the number of fields to write the header, then `reply` for each field.
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

constexpr Command kHashReadCommands[] = {
    {.name = "hget",
     .run = HGet,
     .arity = 3,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kHash,
     .since = "2.0.0",
     .usage = "key field",
     .summary = "Returns the value of a field.",
     .cost = "O(1)"},
    {.name = "hmget",
     .run = HMGet,
     .arity = -3,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kHash,
     .since = "2.0.0",
     .usage = "key field [field ...]",
     .summary = "Returns the values of several fields.",
     .cost = "O(1) for each field"},
    {.name = "hlen",
     .run = HLen,
     .arity = 2,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kHash,
     .since = "2.0.0",
     .usage = "key",
     .summary = "Returns the number of fields.",
     .cost = "O(1)",
     .key_use = "RO"},
    {.name = "hstrlen",
     .run = HStrLen,
     .arity = 3,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kHash,
     .since = "3.2.0",
     .usage = "key field",
     .summary = "Returns the length of a field's value.",
     .cost = "O(1)",
     .key_use = "RO"},
    {.name = "hexists",
     .run = HExists,
     .arity = 3,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kHash,
     .since = "2.0.0",
     .usage = "key field",
     .summary = "Checks whether a field exists.",
     .cost = "O(1)",
     .key_use = "RO"},
    {.name = "hkeys",
     .run = HKeys,
     .arity = 2,
     .flags = kReadOnly,
     .keys = kOneKey,
     .concurrent = true,
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
     .concurrent = true,
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
     .concurrent = true,
     .group = CommandGroup::kHash,
     .since = "2.0.0",
     .usage = "key",
     .summary = "Returns all fields and values.",
     .cost = "O(N) for N fields",
     .tips = "nondeterministic_output_order"},
};

}  // namespace

std::span<const Command> HashReadCommands() { return kHashReadCommands; }

}  // namespace zsetd
