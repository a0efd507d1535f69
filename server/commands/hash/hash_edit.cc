#include <cstdint>
#include <string_view>

#include "core/hash/hash.h"
#include "server/commands/hash/families.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

// Takes the remaining arguments as fields with values, and sets them. Returns the number of new
// fields.
int64_t SetFields(Call& call) {
  const std::string_view key = call.args.Word();
  const Args argv = call.args.Rest();
  if (argv.size() % 2 != 0) call.args.Refuse(WrongArity(call.command.name));
  const Edit<Hash> hash = call.OpenOrMake<Hash>(key, KeyEvent::kHSet);
  if (call.Refused()) return 0;
  hash.Announce(argv.size() / 2);
  int64_t added = 0;
  for (size_t i = 0; i < argv.size(); i += 2) {
    added += hash.Set(argv[i], argv[i + 1]);
  }
  return added;
}

void HSet(Call& call) {
  const int64_t added = SetFields(call);
  if (!call.refused()) call.reply.Integer(added);
}

void HMSet(Call& call) {
  SetFields(call);
  if (!call.refused()) call.reply.Ok();
}

void HSetNx(Call& call) {
  const std::string_view key = call.args.Word();
  const std::string_view name = call.args.Word();
  const std::string_view value = call.args.Word();
  const Edit<Hash> hash = call.OpenOrMake<Hash>(key, KeyEvent::kHSet);
  if (call.Refused()) return;
  const bool is_new = !hash->Get(name);
  if (is_new) hash.Set(name, value);
  call.reply.Integer(is_new);
}

void HDel(Call& call) {
  const std::string_view key = call.args.Word();
  const Edit<Hash> hash = call.Open<Hash>(key, KeyEvent::kHDel);
  if (call.Refused()) return;
  int64_t removed = 0;
  for (const std::string_view name : call.args.Rest()) {
    if (hash) removed += hash.Remove(name);
  }
  call.reply.Integer(removed);
}

constexpr uint32_t kFlags = kWrite | kDenyOom | kFast;

constexpr Command kHashEditCommands[] = {
    {.name = "hset",
     .run = HSet,
     .arity = -4,
     .flags = kFlags,
     .keys = kOneKey,
     .group = CommandGroup::kHash,
     .since = "2.0.0",
     .usage = "key field value [field value ...]",
     .summary = "Sets fields; returns how many were new.",
     .cost = "O(1) for each field",
     .key_use = "RW update"},
    {.name = "hmset",
     .run = HMSet,
     .arity = -4,
     .flags = kFlags,
     .keys = kOneKey,
     .group = CommandGroup::kHash,
     .since = "2.0.0",
     .usage = "key field value [field value ...]",
     .summary = "Sets fields.",
     .cost = "O(1) for each field",
     .key_use = "RW update"},
    {.name = "hsetnx",
     .run = HSetNx,
     .arity = 4,
     .flags = kFlags,
     .keys = kOneKey,
     .group = CommandGroup::kHash,
     .since = "2.0.0",
     .usage = "key field value",
     .summary = "Sets a field if it does not exist.",
     .cost = "O(1)",
     .key_use = "RW insert"},
    {.name = "hdel",
     .run = HDel,
     .arity = -3,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kHash,
     .since = "2.0.0",
     .usage = "key field [field ...]",
     .summary = "Deletes fields.",
     .cost = "O(1) for each field",
     .key_use = "RW delete"},
};

}  // namespace

std::span<const Command> HashEditCommands() { return kHashEditCommands; }

}  // namespace zsetd
