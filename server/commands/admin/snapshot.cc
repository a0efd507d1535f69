// SAVE, BGSAVE, LASTSAVE and BGREWRITEAOF.
#include <chrono>
#include <string_view>

#include "server/commands/admin/families.h"
#include "server/engine/admin_call.h"
#include "server/engine/services/log_control.h"
#include "server/engine/services/services.h"
#include "server/engine/services/snapshot_control.h"

namespace zsetd {
namespace {

// As in Redis, the error has no reason. The log contains it.
constexpr std::string_view kFailed = "ERR";

constexpr std::string_view kRewriteFailed =
    "ERR Can't execute an AOF background rewriting. Please check the server logs for more "
    "information.";

constexpr std::string_view kInProgress = "ERR Background save already in progress";

void SaveSnapshot(AdminCall& call) {
  SnapshotControl& snapshots = *call.engine.services().snapshots;
  if (snapshots.IsSaving()) return call.Fail(kInProgress);
  if (!snapshots.Save().ok()) return call.Fail(kFailed);
  call.reply.Ok();
}

// During a transaction the snapshot is postponed, because it must not contain a part of a unit.
void BackgroundSave(AdminCall& call) {
  const bool may_wait = call.args.Take("schedule");
  call.args.End();
  if (call.Refused()) return;
  SnapshotControl& snapshots = *call.engine.services().snapshots;
  if (snapshots.IsSaving()) return call.Fail(kInProgress);
  const bool is_rewriting = call.engine.services().append_log->IsRewriting();
  if (is_rewriting && !may_wait) {
    return call.Fail(
        "ERR Another child process is active (AOF?): can't BGSAVE right now. Use BGSAVE SCHEDULE "
        "in order to schedule a BGSAVE whenever possible.");
  }
  if (call.caller.transaction.open || is_rewriting) {
    snapshots.ScheduleSaving();
    return call.reply.Simple("Background saving scheduled");
  }
  if (!snapshots.StartSaving().ok()) return call.Fail(kFailed);
  call.reply.Simple("Background saving started");
}

void BackgroundRewrite(AdminCall& call) {
  LogControl& log = *call.engine.services().append_log;
  if (log.IsRewriting()) {
    return call.Fail("ERR Background append only file rewriting already in progress");
  }
  if (call.engine.services().snapshots->IsSaving() || call.caller.transaction.open) {
    log.ScheduleRewriting();
    return call.reply.Simple("Background append only file rewriting scheduled");
  }
  if (!log.StartRewriting().ok()) return call.Fail(kRewriteFailed);
  call.reply.Simple("Background append only file rewriting started");
}

void LastSave(AdminCall& call) {
  const Millis at = call.engine.services().snapshots->snapshot_status().last_saved_at;
  call.reply.Integer(std::chrono::duration_cast<std::chrono::seconds>(at).count());
}

constexpr Command kSnapshotCommands[] = {
    {.name = "save",
     .run = SaveSnapshot,
     .arity = 1,
     .flags = kAdmin | kNoScript | kNoAsyncLoading | kNoMulti,
     .group = CommandGroup::kServer,
     .since = "1.0.0",
     .summary = "Saves a snapshot of all databases to disk; blocks all clients until it is saved.",
     .cost = "O(N) for N elements in all databases"},
    {.name = "bgsave",
     .run = BackgroundSave,
     .arity = -1,
     .flags = kAdmin | kNoScript | kNoAsyncLoading,
     .group = CommandGroup::kServer,
     .since = "1.0.0",
     .usage = "[SCHEDULE]",
     .summary = "Saves a snapshot of all databases to disk in the background.",
     .cost = "O(D) for D databases; O(N) in the background for N elements"},
    {.name = "bgrewriteaof",
     .run = BackgroundRewrite,
     .arity = 1,
     .flags = kAdmin | kNoScript | kNoAsyncLoading,
     .group = CommandGroup::kServer,
     .since = "1.0.0",
     .summary = "Rewrites the append-only log in the background.",
     .cost = "O(D) for D databases; O(N) in the background for N elements"},
    {.name = "lastsave",
     .run = LastSave,
     .arity = 1,
     .flags = kLoading | kStale | kFast | kDangerous,
     .inspects = true,
     .group = CommandGroup::kServer,
     .since = "1.0.0",
     .summary = "Returns the Unix time of the last snapshot that was saved.",
     .cost = "O(1)",
     .tips = "nondeterministic_output",
     .categories = "@admin"},
};

}  // namespace

std::span<const Command> SnapshotCommands() { return kSnapshotCommands; }

}  // namespace zsetd
