#include "server/engine/notify/reply_holds.h"

#include <algorithm>

#include "server/engine/client/caller.h"
#include "server/engine/command/request_keys.h"
#include "server/engine/services/log_control.h"
#include "server/engine/services/services.h"

namespace zsetd {

Release ReplyHolds::ReleaseOf(const Caller& caller) const {
  if (!IsOn() && !log_is_unwritten_) [[likely]]
    return Release::kNow;
  const uint64_t read_until = IsOn() ? caller.read_until : 0;
  const uint64_t position = std::max(caller.propagated_until, read_until);
  if (position <= services_.append_log->ReleasedPosition()) return Release::kNow;
  if (!IsOn()) return Release::kLater;
  return services_.append_log->MayBeLost(position) ? Release::kNever : Release::kLater;
}

// No reply reports what a crash of the machine could undo. A command that writes may also have
// found that there is nothing to change.
void ReplyHolds::HoldForReads(Caller& caller, int database, const Command& command,
                              Args argv) const {
  if (!command.Has(kReadOnly) && !command.Has(kWrite)) return;
  uint64_t position = 0;
  const RequestKeys keys = FindKeys(command, argv);
  for (const size_t key : keys) {
    position = std::max(position, recent_changes_.Of(database, argv[key]));
  }
  // SCAN, DBSIZE and their like; SORT, which finds further keys by patterns
  if (keys.empty() || command.keys.by_patterns) position = recent_changes_.latest();
  caller.read_until = std::max(caller.read_until, position);
}

void ReplyHolds::OnChange(const Change& change) {
  if (IsOn()) [[unlikely]]
    recent_changes_.Note(change.database, change.key);
  next_.OnChange(change);
}

void ReplyHolds::BeforeClear(std::span<const std::unique_ptr<Database>> databases) {
  if (IsOn()) recent_changes_.NoteAll();
  next_.BeforeClear(databases);
}

void ReplyHolds::BeforeSwap(Database& a, Database& b) {
  if (IsOn()) recent_changes_.NoteAll();
  next_.BeforeSwap(a, b);
}

}  // namespace zsetd
