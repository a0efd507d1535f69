#include "core/keyspace/access_tracker.h"
#include "server/commands/common/encoding.h"
#include "server/commands/common/help.h"
#include "server/commands/key/families.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

void Encoding(Call& call) {
  const Entry* entry = call.keys.FindUnreported(call.args.Word());
  if (entry == nullptr) return call.reply.Null();
  call.reply.Bulk(EncodingName(*entry));
}

void Freq(Call& call) {
  const Entry* entry = call.keys.FindUnreported(call.args.Word());
  if (entry == nullptr) return call.reply.Null();
  const AccessTracker& meter = call.keys.access_tracker();
  if (meter.rule().lfu) return call.reply.Integer(meter.Count(entry->access_stamp()));
  call.Fail(
      "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that "
      "when switching between policies at runtime LRU and LFU data will take some time to adjust.");
}

void IdleTime(Call& call) {
  const Entry* entry = call.keys.FindUnreported(call.args.Word());
  if (entry == nullptr) return call.reply.Null();
  const AccessTracker& meter = call.keys.access_tracker();
  if (!meter.rule().lfu) {
    return call.reply.Integer(meter.IdleTime(entry->access_stamp()).count());
  }
  call.Fail(
      "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when "
      "switching between policies at runtime LRU and LFU data will take some time to adjust.");
}

// Always 1, because keys never share a value.
void RefCount(Call& call) {
  const Entry* entry = call.keys.FindUnreported(call.args.Word());
  if (entry == nullptr) {
    call.reply.Null();
  } else {
    call.reply.Integer(1);
  }
}

constexpr Command kObjectCommands[] = {
    {.name = "object",
     .arity = -2,
     .group = CommandGroup::kGeneric,
     .since = "2.2.3",
     .summary = "Inspects how a key's value is stored.",
     .cost = "Depends on the subcommand"},
    {.name = "object|encoding",
     .run = Encoding,
     .arity = 3,
     .flags = kReadOnly | kNoTouch,
     .keys = {2, 2, 1},
     .group = CommandGroup::kGeneric,
     .since = "2.2.3",
     .usage = "key",
     .summary = "Returns the encoding that Redis would use for the value.",
     .cost = "O(1)",
     .key_use = "RO",
     .tips = "nondeterministic_output"},
    {.name = "object|freq",
     .run = Freq,
     .arity = 3,
     .flags = kReadOnly | kNoTouch,
     .keys = {2, 2, 1},
     .group = CommandGroup::kGeneric,
     .since = "4.0.0",
     .usage = "key",
     .summary = "Returns the access frequency of a key (LFU counter, 0 to 255).",
     .cost = "O(1)",
     .key_use = "RO",
     .tips = "nondeterministic_output"},
    {.name = "object|help",
     .run = Help,
     .arity = 2,
     .flags = kLoading | kStale,
     .group = CommandGroup::kGeneric,
     .since = "6.2.0",
     .summary = "Lists the subcommands.",
     .cost = "O(1)"},
    {.name = "object|idletime",
     .run = IdleTime,
     .arity = 3,
     .flags = kReadOnly | kNoTouch,
     .keys = {2, 2, 1},
     .group = CommandGroup::kGeneric,
     .since = "2.2.3",
     .usage = "key",
     .summary = "Returns the seconds since a key was last accessed.",
     .cost = "O(1)",
     .key_use = "RO",
     .tips = "nondeterministic_output"},
    {.name = "object|refcount",
     .run = RefCount,
     .arity = 3,
     .flags = kReadOnly | kNoTouch,
     .keys = {2, 2, 1},
     .group = CommandGroup::kGeneric,
     .since = "2.2.3",
     .usage = "key",
     .summary = "Returns the reference count of a value (always 1).",
     .cost = "O(1)",
     .key_use = "RO",
     .tips = "nondeterministic_output"},
};

}  // namespace

std::span<const Command> ObjectCommands() { return kObjectCommands; }

}  // namespace zsetd
