// FCALL and FUNCTION: functions of libraries. server/scripting runs them.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/util/glob.h"
#include "protocol/rdb/dump_payload.h"
#include "server/commands/common/help.h"
#include "server/commands/scripting/families.h"
#include "server/commands/scripting/scripting.h"
#include "server/engine/admin_call.h"

namespace zsetd {
namespace {

void FCall(AdminCall& call) {
  SendToMonitors(call);
  if (!CanRunScripts(call)) return;
  const std::string_view name = call.args.Word();
  if (!call.engine.services().scripting->HasFunction(name))
    return call.Fail("ERR Function not found");
  const ScriptArguments arguments = ReadScriptArguments(call, "ERR Bad number of keys provided");
  if (call.Refused()) return;
  call.engine.services().scripting->CallFunction(call, name, arguments);
}

uint32_t FCallFlags(const Command& row, Args argv, const Scripting& scripting) {
  return FlagsOfScript(row, scripting.DeclarationOfFunction(argv[1]));
}

// Libraries from another server or from the log are kept even if this server cannot run them.
bool CanChangeLibraries(AdminCall& call) {
  return call.engine.store().nothing_due() || CanRunScripts(call);
}

void FunctionLoad(AdminCall& call) {
  if (!CanChangeLibraries(call)) return;
  bool replace = false;
  while (call.args.left() > 1) {
    if (call.args.Take("replace")) {
      replace = true;
    } else {
      return call.Fail("ERR Unknown option given: " + std::string(call.args.Peek()));
    }
  }
  const absl::StatusOr<std::string> name =
      call.engine.services().scripting->LoadLibrary(call.args.Word(), replace);
  if (!name.ok()) return call.Fail(name.status());
  call.engine.store().CountChange();
  call.reply.Bulk(*name);
}

void FunctionDelete(AdminCall& call) {
  if (!CanChangeLibraries(call)) return;
  const absl::Status status = call.engine.services().scripting->DeleteLibrary(call.args.Word());
  if (!status.ok()) return call.Fail(status);
  call.engine.store().CountChange();
  call.reply.Ok();
}

void FunctionDump(AdminCall& call) {
  std::string payload = call.engine.services().scripting->DumpLibraries();
  SealPayload(payload);
  call.reply.Bulk(payload);
}

void FunctionFlush(AdminCall& call) {
  if (!ReadFlushMode(call, "ERR FUNCTION FLUSH only supports SYNC|ASYNC option")) return;
  call.engine.services().scripting->FlushLibraries();
  call.engine.store().CountChange();
  call.reply.Ok();
}

void FunctionKill(AdminCall& call) { KillRunning(call, /*function=*/true); }

struct ListRequest {
  std::optional<std::string_view> pattern;
  bool with_code = false;
};

ListRequest ReadListRequest(ArgReader& args) {
  ListRequest request;
  while (args.ok() && !args.AtEnd()) {
    if (!request.with_code && args.Take("withcode")) {
      request.with_code = true;
    } else if (!request.pattern && args.Take("libraryname")) {
      if (args.AtEnd()) args.Refuse("ERR library name argument was not given");
      request.pattern = args.Word();
    } else {
      args.Refuse("ERR Unknown argument " + std::string(args.Peek()));
    }
  }
  return request;
}

void ReplyFunction(ReplyWriter& reply, const LibraryDescription::Function& function) {
  reply.Map(3);
  reply.Bulk("name");
  reply.Bulk(function.name);
  reply.Bulk("description");
  reply.BulkOrNull(function.description);
  reply.Bulk("flags");
  reply.Set(function.flags.size());
  for (const std::string_view flag : function.flags) reply.Simple(flag);
}

void ReplyLibrary(ReplyWriter& reply, const LibraryDescription& library, bool with_code) {
  reply.Map(with_code ? 4 : 3);
  reply.Bulk("library_name");
  reply.Bulk(library.name);
  reply.Bulk("engine");
  reply.Bulk("LUA");
  reply.Bulk("functions");
  reply.Array(library.functions.size());
  for (const auto& function : library.functions) ReplyFunction(reply, function);
  if (!with_code) return;
  reply.Bulk("library_code");
  reply.Bulk(library.code);
}

void FunctionList(AdminCall& call) {
  const ListRequest request = ReadListRequest(call.args);
  if (call.Refused()) return;
  std::vector<LibraryDescription> libraries = call.engine.services().scripting->Libraries();
  if (request.pattern) {
    std::erase_if(libraries, [&](const LibraryDescription& library) {
      return !GlobMatchesIgnoringCase(*request.pattern, library.name);
    });
  }
  call.reply.Array(libraries.size());
  for (const LibraryDescription& library : libraries) {
    ReplyLibrary(call.reply, library, request.with_code);
  }
}

void FunctionRestore(AdminCall& call) {
  const std::string_view payload = call.args.Word();
  RestorePolicy policy = RestorePolicy::kAppend;
  if (!call.args.AtEnd()) {
    if (call.args.Take("flush")) {
      policy = RestorePolicy::kFlush;
    } else if (call.args.Take("replace")) {
      policy = RestorePolicy::kReplace;
    } else if (!call.args.Take("append")) {
      return call.Fail(
          "ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.");
    }
  }
  call.args.End();
  if (call.Refused()) return;
  const auto dump = OpenPayload(payload);
  if (!dump) return call.Fail("ERR DUMP payload version or checksum are wrong");
  if (!CanChangeLibraries(call)) return;
  const absl::Status status = call.engine.services().scripting->RestoreLibraries(*dump, policy);
  if (!status.ok()) return call.Fail(status);
  call.engine.store().CountChange();
  call.reply.Ok();
}

void ReplyRunning(ReplyWriter& reply, const RunningScript& running) {
  reply.Map(3);
  reply.Bulk("name");
  reply.Bulk(running.name);
  reply.Bulk("command");
  reply.Array(running.command.size());
  for (const std::string& word : running.command) reply.Bulk(word);
  reply.Bulk("duration_ms");
  reply.Integer(std::chrono::duration_cast<Millis>(running.elapsed).count());
}

void FunctionStats(AdminCall& call) {
  const Scripting& scripting = *call.engine.services().scripting;
  const bool is_available = scripting.Available().ok();
  const std::optional<RunningScript> running = scripting.Running();
  if (running && !running->is_function) return call.Fail(call.engine.suspended_unit().BusyError());
  call.reply.Map(2);
  call.reply.Bulk("running_script");
  if (running) {
    ReplyRunning(call.reply, *running);
  } else {
    call.reply.Null();
  }
  call.reply.Bulk("engines");
  call.reply.Map(is_available ? 1 : 0);
  if (!is_available) return;
  const ScriptUsage usage = scripting.Usage();
  call.reply.Bulk("LUA");
  call.reply.Map(2);
  call.reply.Bulk("libraries_count");
  call.reply.Integer(static_cast<int64_t>(usage.libraries));
  call.reply.Bulk("functions_count");
  call.reply.Integer(static_cast<int64_t>(usage.functions));
}

constexpr Command kFunctionCommands[] = {
    {.name = "fcall",
     .run = FCall,
     .arity = -3,
     .flags = kScriptFlags | kMayReplicate,
     .keys = kKeysBehindCount,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .usage = "function numkeys [key [key ...]] [arg [arg ...]]",
     .summary = "Calls a function.",
     .cost = "Depends on the function",
     .key_use = "RW access update",
     .request_flags = FCallFlags},
    {.name = "fcall_ro",
     .run = FCall,
     .arity = -3,
     .flags = kScriptFlags | kReadOnly,
     .keys = kKeysBehindCount,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .usage = "function numkeys [key [key ...]] [arg [arg ...]]",
     .summary = "Calls a read-only function.",
     .cost = "Depends on the function",
     .request_flags = FCallFlags},
    {.name = "function",
     .arity = -2,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .summary = "Loads and manages libraries of functions.",
     .cost = "Depends on the subcommand"},
    {.name = "function|delete",
     .run = FunctionDelete,
     .arity = 3,
     .flags = kWrite | kNoScript,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .usage = "library-name",
     .summary = "Removes a library with its functions.",
     .cost = "O(1)",
     .tips = "request_policy:all_shards response_policy:all_succeeded"},
    {.name = "function|dump",
     .run = FunctionDump,
     .arity = 2,
     .flags = kNoScript,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .summary = "Returns all libraries in the form that FUNCTION RESTORE reads.",
     .cost = "O(N) for N bytes of code"},
    {.name = "function|flush",
     .run = FunctionFlush,
     .arity = -2,
     .flags = kWrite | kNoScript,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .usage = "[ASYNC|SYNC]",
     .summary = "Removes all libraries.",
     .cost = "O(N) for N functions",
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
     .run = FunctionKill,
     .arity = 2,
     .flags = kNoScript | kAllowBusy,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .summary = "Stops the running function, unless it has written.",
     .cost = "O(1)",
     .tips = "request_policy:all_shards response_policy:one_succeeded"},
    {.name = "function|list",
     .run = FunctionList,
     .arity = -2,
     .flags = kNoScript,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .usage = "[LIBRARYNAME library-name-pattern] [WITHCODE]",
     .summary = "Returns the libraries and their functions.",
     .cost = "O(N) for N functions",
     .tips = "nondeterministic_output_order"},
    {.name = "function|load",
     .run = FunctionLoad,
     .arity = -3,
     .flags = kWrite | kDenyOom | kNoScript,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .usage = "[REPLACE] function-code",
     .summary = "Loads a library of functions.",
     .cost = "Depends on the library's code",
     .tips = "request_policy:all_shards response_policy:all_succeeded"},
    {.name = "function|restore",
     .run = FunctionRestore,
     .arity = -3,
     .flags = kWrite | kDenyOom | kNoScript,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .usage = "serialized-value [FLUSH|APPEND|REPLACE]",
     .summary = "Loads the libraries that FUNCTION DUMP returned.",
     .cost = "Depends on the libraries' code",
     .tips = "request_policy:all_shards response_policy:all_succeeded"},
    {.name = "function|stats",
     .run = FunctionStats,
     .arity = 2,
     .flags = kNoScript | kAllowBusy,
     .group = CommandGroup::kScripting,
     .since = "7.0.0",
     .summary = "Returns the running function, and the number of libraries and functions.",
     .cost = "O(1)",
     .tips = "nondeterministic_output request_policy:all_shards response_policy:special"},
};

}  // namespace

std::span<const Command> FunctionCommands() { return kFunctionCommands; }

}  // namespace zsetd
