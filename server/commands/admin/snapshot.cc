// SAVE, BGSAVE, LASTSAVE and BGREWRITEAOF.
#include <chrono>
#include <string_view>

#include "server/commands/all_commands.h"
#include "server/engine/admin_call.h"
#include "server/engine/services/services.h"

namespace zsetd {
namespace {

// As in Redis, the error has no reason. The log contains it.
constexpr std::string_view kFailed = "ERR";

constexpr std::string_view kRewriteFailed =
    "ERR Can't execute an AOF background rewriting. Please check the server logs for more "
    "information.";

constexpr std::string_view kInProgress = "ERR Background save already in progress";

void Save(AdminCall& call) {
  Persistence* persistence = call.engine.services().persistence;
  if (persistence == nullptr) return call.Fail(kFailed);
  if (persistence->IsSaving()) return call.Fail(kInProgress);
  if (!persistence->Save().ok()) return call.Fail(kFailed);
  call.reply.Ok();
}

// During a transaction the snapshot is postponed, because it must not contain a part of a unit.
void BackgroundSave(AdminCall& call) {
  const bool may_wait = call.args.Take("schedule");
  call.args.End();
  if (call.Refused()) return;
  Persistence* persistence = call.engine.services().persistence;
  if (persistence == nullptr) return call.Fail(kFailed);
  if (persistence->IsSaving()) return call.Fail(kInProgress);
  if (persistence->IsRewriting() && !may_wait) {
    return call.Fail(
        "ERR Another child process is active (AOF?): can't BGSAVE right now. Use BGSAVE SCHEDULE "
        "in order to schedule a BGSAVE whenever possible.");
  }
  if (call.client.transaction.open || persistence->IsRewriting()) {
    persistence->ScheduleSaving();
    return call.reply.Simple("Background saving scheduled");
  }
  if (!persistence->StartSaving().ok()) return call.Fail(kFailed);
  call.reply.Simple("Background saving started");
}

void BackgroundRewrite(AdminCall& call) {
  Persistence* persistence = call.engine.services().persistence;
  if (persistence == nullptr) return call.Fail(kRewriteFailed);
  if (persistence->IsRewriting()) {
    return call.Fail("ERR Background append only file rewriting already in progress");
  }
  if (persistence->IsSaving() || call.client.transaction.open) {
    persistence->ScheduleRewriting();
    return call.reply.Simple("Background append only file rewriting scheduled");
  }
  if (!persistence->StartRewriting().ok()) return call.Fail(kRewriteFailed);
  call.reply.Simple("Background append only file rewriting started");
}

void LastSave(AdminCall& call) {
  const Persistence* persistence = call.engine.services().persistence;
  const Millis at = persistence != nullptr ? persistence->status().last_saved_at
                                           : call.engine.identity().started_at();
  call.reply.Integer(std::chrono::duration_cast<std::chrono::seconds>(at).count());
}

constexpr Command kCommands[] = {
    {.name = "save",
     .run = Save,
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
     .group = CommandGroup::kServer,
     .since = "1.0.0",
     .summary = "Returns the Unix time of the last snapshot that was saved.",
     .cost = "O(1)",
     .tips = "nondeterministic_output",
     .categories = "@admin"},
};

}  // namespace

std::span<const Command> SnapshotCommands() { return kCommands; }

}  // namespace zsetd
