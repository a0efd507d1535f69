// FCALL and FUNCTION: zsetd runs no functions, and answers as a server that has been given none.
#include <string>
#include <string_view>

#include "protocol/rdb/dump_payload.h"
#include "server/commands/all_commands.h"
#include "server/commands/common/help.h"
#include "server/commands/scripting/scripting.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

constexpr std::string_view kNoFunctions = "ERR zsetd runs no functions";

void FCall(Call& call) { call.Fail("ERR Function not found"); }
void FunctionLoad(Call& call) { call.Fail(kNoFunctions); }
void FunctionDelete(Call& call) { call.Fail("ERR Library not found"); }

// The payload of no libraries.
void FunctionDump(Call& call) {
  std::string payload;
  SealPayload(payload);
  call.reply.Bulk(payload);
}

void FunctionFlush(Call& call) {
  FlushScripts(call, "ERR FUNCTION FLUSH only supports SYNC|ASYNC option");
}

void FunctionList(Call& call) {
  bool with_code = false;
  bool named = false;
  while (call.args.ok() && !call.args.AtEnd()) {
    if (!with_code && call.args.Take("withcode")) {
      with_code = true;
    } else if (!named && call.args.Take("libraryname")) {
      named = true;
      if (call.args.AtEnd()) call.args.Refuse("ERR library name argument was not given");
      call.args.Word();
    } else {
      call.args.Refuse("ERR Unknown argument " + std::string(call.args.Peek()));
    }
  }
  if (call.Refused()) return;
  call.reply.Array(0);
}

// Takes back what FunctionDump gave, and no more.
void FunctionRestore(Call& call) {
  const std::string_view payload = call.args.Word();
  const bool has_policy = !call.args.AtEnd();
  const bool is_known =
      call.args.Take("flush") || call.args.Take("append") || call.args.Take("replace");
  if (has_policy && !is_known) {
    return call.Fail(
        "ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.");
  }
  const auto libraries = OpenPayload(payload);
  if (!libraries) return call.Fail("ERR DUMP payload version or checksum are wrong");
  libraries->empty() ? call.reply.Ok() : call.Fail(kNoFunctions);
}

void FunctionStats(Call& call) {
  call.reply.Map(2);
  call.reply.Bulk("running_script");
  call.reply.Null();
  call.reply.Bulk("engines");
  call.reply.Map(0);
}

constexpr Command kCommands[] = {
    {.name = "fcall",
     .run = FCall,
     .arity = -3,
     .flags = kScriptFlags,
     .keys = kKeysBehindCount,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .usage = "function numkeys [key [key ...]] [arg [arg ...]]",
     .summary = "Tells that there is no such function.",
     .cost = "O(1)",
     .key_use = "RW access update"},
    {.name = "fcall_ro",
     .run = FCall,
     .arity = -3,
     .flags = kScriptFlags | kReadOnly,
     .keys = kKeysBehindCount,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .usage = "function numkeys [key [key ...]] [arg [arg ...]]",
     .summary = "Tells that there is no such function.",
     .cost = "O(1)"},
    {.name = "function",
     .arity = -2,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .summary = "Tells of functions.",
     .cost = "That of the subcommand"},
    {.name = "function|delete",
     .run = FunctionDelete,
     .arity = 3,
     .flags = kWrite | kNoScript,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .usage = "library-name",
     .summary = "Tells that there is no such library.",
     .cost = "O(1)",
     .tips = "request_policy:all_shards response_policy:all_succeeded"},
    {.name = "function|dump",
     .run = FunctionDump,
     .arity = 2,
     .flags = kNoScript,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .summary = "Gives all libraries as bytes for FUNCTION RESTORE; there are none.",
     .cost = "O(1)"},
    {.name = "function|flush",
     .run = FunctionFlush,
     .arity = -2,
     .flags = kWrite | kNoScript,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .usage = "[ASYNC|SYNC]",
     .summary = "Forgets all libraries, of which there are none.",
     .cost = "O(1)",
     .tips = "request_policy:all_shards response_policy:all_succeeded"},
    {.name = "function|help",
     .run = Help,
     .arity = 2,
     .flags = kLoading | kStale,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .summary = "Prints this.",
     .cost = "O(1)"},
    {.name = "function|kill",
     .run = KillScript,
     .arity = 2,
     .flags = kNoScript | kAllowBusy,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .summary = "Tells that no function is running.",
     .cost = "O(1)",
     .tips = "request_policy:all_shards response_policy:one_succeeded"},
    {.name = "function|list",
     .run = FunctionList,
     .arity = -2,
     .flags = kNoScript,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .usage = "[LIBRARYNAME library-name-pattern] [WITHCODE]",
     .summary = "Tells of all libraries, of which there are none.",
     .cost = "O(1)",
     .tips = "nondeterministic_output_order"},
    {.name = "function|load",
     .run = FunctionLoad,
     .arity = -3,
     .flags = kWrite | kDenyOom | kNoScript,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .usage = "[REPLACE] function-code",
     .summary = "Tells that functions are not run.",
     .cost = "O(1)",
     .tips = "request_policy:all_shards response_policy:all_succeeded"},
    {.name = "function|restore",
     .run = FunctionRestore,
     .arity = -3,
     .flags = kWrite | kDenyOom | kNoScript,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .usage = "serialized-value [FLUSH|APPEND|REPLACE]",
     .summary = "Takes what FUNCTION DUMP gave: no libraries.",
     .cost = "O(1)",
     .tips = "request_policy:all_shards response_policy:all_succeeded"},
    {.name = "function|stats",
     .run = FunctionStats,
     .arity = 2,
     .flags = kNoScript | kAllowBusy,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .summary = "Tells which function is running, and which engines run them: none.",
     .cost = "O(1)",
     .tips = "nondeterministic_output request_policy:all_shards response_policy:special"},
};

}  // namespace

std::span<const Command> FunctionCommands() { return kCommands; }

}  // namespace zsetd
