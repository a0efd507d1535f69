#include "server/commands/encoding.h"
#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

void Encoding(Call& call) {
  const Entry* entry = call.Find(call.args.Word());
  if (entry == nullptr) return call.reply.Null();
  call.reply.Bulk(EncodingName(*entry, call.engine.settings()));
}

// No value is ever shared between keys.
void RefCount(Call& call) {
  const Entry* entry = call.Find(call.args.Word());
  entry == nullptr ? call.reply.Null() : call.reply.Integer(1);
}

constexpr Command kCommands[] = {
    {.name = "object",
     .arity = -2,
     .group = CommandGroup::kGeneric,
     .since = "2.2.3",
     .summary = "Tells how a key is kept.",
     .cost = "That of the subcommand"},
    {.name = "object|encoding",
     .run = Encoding,
     .arity = 3,
     .flags = kReadOnly,
     .keys = {2, 2, 1},
     .group = CommandGroup::kGeneric,
     .since = "2.2.3",
     .usage = "key",
     .summary = "Names the encoding that Redis would use for what a key holds.",
     .cost = "O(1)"},
    {.name = "object|help",
     .run = Help,
     .arity = 2,
     .flags = kLoading | kStale,
     .group = CommandGroup::kGeneric,
     .since = "6.2.0",
     .summary = "Prints this.",
     .cost = "O(1)"},
    {.name = "object|refcount",
     .run = RefCount,
     .arity = 3,
     .flags = kReadOnly,
     .keys = {2, 2, 1},
     .group = CommandGroup::kGeneric,
     .since = "2.2.3",
     .usage = "key",
     .summary = "Tells how many keys share what a key holds: always 1.",
     .cost = "O(1)"},
};

}  // namespace

std::span<const Command> ObjectCommands() { return kCommands; }

}  // namespace zsetd
