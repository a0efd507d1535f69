// EVAL and kin: zsetd runs no scripts, and answers as a server that has been given none.
#include <string_view>

#include "server/commands/all_commands.h"
#include "server/commands/common/help.h"
#include "server/commands/scripting/scripting.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

constexpr std::string_view kNoScripts = "ERR zsetd runs no scripts";

void Eval(Call& call) { call.Fail(kNoScripts); }
void EvalSha(Call& call) { call.Fail("NOSCRIPT No matching script. Please use EVAL."); }

void ScriptExists(Call& call) {
  const size_t asked = call.args.Rest().size();
  call.reply.Array(asked);
  for (size_t i = 0; i < asked; ++i) call.reply.Integer(0);
}

void ScriptFlush(Call& call) {
  FlushScripts(call, "ERR SCRIPT FLUSH only support SYNC|ASYNC option");
}

constexpr Command kCommands[] = {
    {.name = "eval",
     .run = Eval,
     .arity = -3,
     .flags = kScriptFlags,
     .keys = kKeysBehindCount,
     .group = CommandGroup::kScripting,
     .since = "2.6.0",
     .usage = "script numkeys [key [key ...]] [arg [arg ...]]",
     .summary = "Tells that scripts are not run.",
     .cost = "O(1)",
     .key_use = "RW access update"},
    {.name = "eval_ro",
     .run = Eval,
     .arity = -3,
     .flags = kScriptFlags | kReadOnly,
     .keys = kKeysBehindCount,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .usage = "script numkeys [key [key ...]] [arg [arg ...]]",
     .summary = "Tells that scripts are not run.",
     .cost = "O(1)"},
    {.name = "evalsha",
     .run = EvalSha,
     .arity = -3,
     .flags = kScriptFlags,
     .keys = kKeysBehindCount,
     .group = CommandGroup::kScripting,
     .since = "2.6.0",
     .usage = "sha1 numkeys [key [key ...]] [arg [arg ...]]",
     .summary = "Tells that there is no such script.",
     .cost = "O(1)",
     .key_use = "RW access update"},
    {.name = "evalsha_ro",
     .run = EvalSha,
     .arity = -3,
     .flags = kScriptFlags | kReadOnly,
     .keys = kKeysBehindCount,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .usage = "sha1 numkeys [key [key ...]] [arg [arg ...]]",
     .summary = "Tells that there is no such script.",
     .cost = "O(1)"},
    {.name = "script",
     .arity = -2,
     .group = CommandGroup::kScripting,
     .since = "2.6.0",
     .summary = "Tells of scripts.",
     .cost = "That of the subcommand"},
    {.name = "script|exists",
     .run = ScriptExists,
     .arity = -3,
     .flags = kNoScript,
     .group = CommandGroup::kScripting,
     .since = "2.6.0",
     .usage = "sha1 [sha1 ...]",
     .summary = "Tells which scripts are there: none.",
     .cost = "O(N) for N scripts",
     .tips = "request_policy:all_shards response_policy:agg_logical_and"},
    {.name = "script|flush",
     .run = ScriptFlush,
     .arity = -2,
     .flags = kNoScript,
     .group = CommandGroup::kScripting,
     .since = "2.6.0",
     .usage = "[ASYNC|SYNC]",
     .summary = "Forgets all scripts, of which there are none.",
     .cost = "O(1)",
     .tips = "request_policy:all_nodes response_policy:all_succeeded"},
    {.name = "script|help",
     .run = Help,
     .arity = 2,
     .flags = kLoading | kStale,
     .group = CommandGroup::kScripting,
     .since = "5.0.0",
     .summary = "Prints this.",
     .cost = "O(1)"},
    {.name = "script|kill",
     .run = KillScript,
     .arity = 2,
     .flags = kNoScript | kAllowBusy,
     .group = CommandGroup::kScripting,
     .since = "2.6.0",
     .summary = "Tells that no script is running.",
     .cost = "O(1)",
     .tips = "request_policy:all_shards response_policy:one_succeeded"},
    {.name = "script|load",
     .run = Eval,
     .arity = 3,
     .flags = kNoScript | kStale,
     .group = CommandGroup::kScripting,
     .since = "2.6.0",
     .usage = "script",
     .summary = "Tells that scripts are not run.",
     .cost = "O(1)",
     .tips = "request_policy:all_nodes response_policy:all_succeeded"},
};

}  // namespace

std::span<const Command> ScriptCommands() { return kCommands; }

}  // namespace zsetd
