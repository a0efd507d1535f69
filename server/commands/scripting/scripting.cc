#include "server/commands/scripting/scripting.h"

#include "server/engine/engine.h"

namespace zsetd {

uint32_t FlagsOfScript(const Command& row, const std::optional<ScriptDeclaration>& declaration) {
  if (!declaration) return row.flags;
  uint32_t flags = row.flags & ~kDeclaredFlags;
  if (declaration->may_write) flags |= kWrite;
  if (declaration->takes_memory) flags |= kDenyOom;
  if (declaration->may_be_stale) flags |= kStale;
  return flags;
}

bool CanRunScripts(AdminCall& call) {
  const absl::Status status = call.engine.services().scripting->Available();
  if (!status.ok()) call.Fail(status);
  return status.ok();
}

void SendToMonitors(AdminCall& call) {
  call.engine.notifier().SendToMonitors(call.caller, call.command, call.argv());
}

ScriptArguments ReadScriptArguments(AdminCall& call, std::string_view bad_count) {
  ScriptArguments arguments = {.keys = {}, .args = {}, .read_only = call.command.Has(kReadOnly)};
  const int64_t count = call.args.Integer(bad_count);
  if (!call.args.ok()) return arguments;
  if (count < 0) {
    call.args.Refuse("ERR Number of keys can't be negative");
  } else if (static_cast<uint64_t>(count) > call.args.left()) {
    call.args.Refuse("ERR Number of keys can't be greater than number of args");
  } else {
    arguments.keys = call.args.Next(static_cast<size_t>(count));
    arguments.args = call.args.Rest();
  }
  return arguments;
}

void KillRunning(AdminCall& call, bool function) {
  const absl::Status status = call.engine.services().scripting->Kill(function);
  if (status.ok()) {
    call.reply.Ok();
  } else {
    call.Fail(status);
  }
}

bool ReadFlushMode(AdminCall& call, std::string_view error) {
  const bool has_mode = !call.args.AtEnd();
  const bool is_known = call.args.Take("sync") || call.args.Take("async");
  if (call.args.AtEnd() && is_known == has_mode) return true;
  call.Fail(error);
  return false;
}

}  // namespace zsetd
