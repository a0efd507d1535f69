#include "server/engine/units.h"

#include <utility>

#include "server/engine/engine.h"
#include "server/engine/propagation/unit.h"
#include "server/engine/services/services.h"
#include "server/engine/services/snapshot_control.h"

namespace zsetd {

// The effects of a suspended script wait for its end, and so do the changes.
void Units::End(Unit unit, Caller& caller) {
  const Effects::JournalPositions positions = unit.Commit();
  if (positions.log > 0) caller.propagated_until = positions.log;
  if (positions.stream > 0) caller.streamed_until = static_cast<int64_t>(positions.stream);
  if (!engine_.mode().IsBetweenUnits()) [[unlikely]]
    return;
  if (!changes_.empty()) [[unlikely]]
    MakeChanges();
  if (engine_.disk().flush_is_unsaved()) [[unlikely]]
    engine_.services().snapshots->SaveFlushed();
}

bool Units::IsInTransaction() const {
  const Client* const active = engine_.notifier().active();
  return !engine_.mode().IsBetweenUnits() || (active != nullptr && active->transaction.running);
}

void Units::AfterUnit(std::function<void()> change) {
  if (!IsInTransaction()) return change();
  changes_.push_back(std::move(change));
}

void Units::MakeChanges() {
  for (const auto& change : std::exchange(changes_, {})) change();
}

}  // namespace zsetd
