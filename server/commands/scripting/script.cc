// EVAL and similar commands. server/scripting runs the scripts.
#include <string_view>

#include "server/commands/common/help.h"
#include "server/commands/scripting/families.h"
#include "server/commands/scripting/scripting.h"
#include "server/engine/admin_call.h"

namespace zsetd {
namespace {

void Eval(AdminCall& call) {
  SendToMonitors(call);
  if (!CanRunScripts(call)) return;
  const std::string_view body = call.args.Word();
  const ScriptArguments arguments = ReadScriptArguments(call, kNotAnInteger);
  if (call.Refused()) return;
  call.engine.services().scripting->Eval(call, body, arguments);
}

void EvalSha(AdminCall& call) {
  constexpr size_t kShaBytes = 40;
  SendToMonitors(call);
  if (!CanRunScripts(call)) return;
  const std::string_view sha = call.args.Word();
  if (sha.size() != kShaBytes) return call.Fail("NOSCRIPT No matching script. Please use EVAL.");
  const ScriptArguments arguments = ReadScriptArguments(call, kNotAnInteger);
  if (call.Refused()) return;
  call.engine.services().scripting->EvalSha(call, sha, arguments);
}

uint32_t EvalFlags(const Command& row, Args argv, const Scripting& scripting) {
  return FlagsOfScript(row, scripting.DeclarationOfScript(argv[1]));
}

uint32_t EvalShaFlags(const Command& row, Args argv, const Scripting& scripting) {
  return FlagsOfScript(row, scripting.DeclarationOfSha(argv[1]));
}

void ScriptExists(AdminCall& call) {
  const Args shas = call.args.Rest();
  const Scripting& scripting = *call.engine.services().scripting;
  call.reply.Array(shas.size());
  for (const std::string_view sha : shas) {
    call.reply.Integer(scripting.HasScript(sha) ? 1 : 0);
  }
}

void ScriptLoad(AdminCall& call) {
  if (!CanRunScripts(call)) return;
  const absl::StatusOr<std::string> sha =
      call.engine.services().scripting->LoadScript(call.args.Word());
  if (sha.ok()) {
    call.reply.Bulk(*sha);
  } else {
    call.Fail(sha.status());
  }
}

void ScriptFlush(AdminCall& call) {
  if (!ReadFlushMode(call, "ERR SCRIPT FLUSH only support SYNC|ASYNC option")) return;
  call.engine.services().scripting->FlushScripts();
  call.reply.Ok();
}

void ScriptKill(AdminCall& call) { KillRunning(call, /*function=*/false); }

constexpr Command kScriptCommands[] = {
    {.name = "eval",
     .run = Eval,
     .arity = -3,
     .flags = kScriptFlags | kMayReplicate,
     .keys = kKeysBehindCount,
     .group = CommandGroup::kScripting,
     .since = "2.6.0",
     .usage = "script numkeys [key [key ...]] [arg [arg ...]]",
     .summary = "Runs a Lua script.",
     .cost = "Depends on the script",
     .key_use = "RW access update",
     .request_flags = EvalFlags},
    {.name = "eval_ro",
     .run = Eval,
     .arity = -3,
     .flags = kScriptFlags | kReadOnly,
     .keys = kKeysBehindCount,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .usage = "script numkeys [key [key ...]] [arg [arg ...]]",
     .summary = "Runs a read-only Lua script.",
     .cost = "Depends on the script",
     .request_flags = EvalFlags},
    {.name = "evalsha",
     .run = EvalSha,
     .arity = -3,
     .flags = kScriptFlags | kMayReplicate,
     .keys = kKeysBehindCount,
     .group = CommandGroup::kScripting,
     .since = "2.6.0",
     .usage = "sha1 numkeys [key [key ...]] [arg [arg ...]]",
     .summary = "Runs a Lua script by its SHA-1.",
     .cost = "Depends on the script",
     .key_use = "RW access update",
     .request_flags = EvalShaFlags},
    {.name = "evalsha_ro",
     .run = EvalSha,
     .arity = -3,
     .flags = kScriptFlags | kReadOnly,
     .keys = kKeysBehindCount,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .usage = "sha1 numkeys [key [key ...]] [arg [arg ...]]",
     .summary = "Runs a read-only Lua script by its SHA-1.",
     .cost = "Depends on the script",
     .request_flags = EvalShaFlags},
    {.name = "script",
     .arity = -2,
     .group = CommandGroup::kScripting,
     .since = "2.6.0",
     .summary = "Loads and manages Lua scripts.",
     .cost = "Depends on the subcommand"},
    {.name = "script|exists",
     .run = ScriptExists,
     .arity = -3,
     .flags = kNoScript,
     .group = CommandGroup::kScripting,
     .since = "2.6.0",
     .usage = "sha1 [sha1 ...]",
     .summary = "Returns whether scripts are cached, by their SHA-1s.",
     .cost = "O(N) for N scripts",
     .tips = "request_policy:all_shards response_policy:agg_logical_and"},
    {.name = "script|flush",
     .run = ScriptFlush,
     .arity = -2,
     .flags = kNoScript,
     .group = CommandGroup::kScripting,
     .since = "2.6.0",
     .usage = "[ASYNC|SYNC]",
     .summary = "Removes all scripts from the cache.",
     .cost = "O(N) for N scripts",
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
     .run = ScriptKill,
     .arity = 2,
     .flags = kNoScript | kAllowBusy,
     .group = CommandGroup::kScripting,
     .since = "2.6.0",
     .summary = "Stops the running script, unless it has written.",
     .cost = "O(1)",
     .tips = "request_policy:all_shards response_policy:one_succeeded"},
    {.name = "script|load",
     .run = ScriptLoad,
     .arity = 3,
     .flags = kNoScript | kStale,
     .group = CommandGroup::kScripting,
     .since = "2.6.0",
     .usage = "script",
     .summary = "Compiles a Lua script and returns its SHA-1.",
     .cost = "O(N) for N bytes",
     .tips = "request_policy:all_nodes response_policy:all_succeeded"},
};

}  // namespace

std::span<const Command> ScriptCommands() { return kScriptCommands; }

}  // namespace zsetd
