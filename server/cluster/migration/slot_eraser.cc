#include "server/cluster/migration/slot_eraser.h"

#include <string>
#include <vector>

#include "server/engine/propagation/unit.h"

namespace zsetd {

bool SlotEraser::IsDone(size_t slot) const {
  return topology_.OwnerOf(slot) == &topology_.self() ||
         engine_.store().database(0).keys().CountInSlot(slot) == 0;
}

bool SlotEraser::MayErase(size_t slot) const {
  return !topology_.self().is_replica && topology_.OwnerOf(slot) != nullptr;
}

bool SlotEraser::EraseUntil(size_t slot, Micros until) {
  slots_.Insert(slot);
  while (!IsDone(slot)) {
    if (!MayErase(slot) || engine_.host().stopwatch() >= until) return false;
    EraseSome(slot);
  }
  slots_.Erase(slot);
  return true;
}

void SlotEraser::Continue(Micros budget) {
  const Micros end = engine_.host().stopwatch() + budget;
  is_waiting_ = false;
  for (size_t slot = slots_.Next(0); slot < kSlotCount;) {
    if (IsDone(slot)) {
      slots_.Erase(slot);
    } else if (MayErase(slot)) {
      EraseSome(slot);
      if (engine_.host().stopwatch() >= end) return;
      continue;
    }
    slot = slots_.Next(slot + 1);
  }
  is_waiting_ = true;
}

// Deletes the keys of a bucket. The scan starts again at its end, and for another slot.
void SlotEraser::EraseSome(size_t slot) {
  Database& database = engine_.store().database(0);
  if (cursor_ % kSlotCount != slot) cursor_ = slot;
  std::vector<std::string> keys;
  cursor_ = database.keys().ScanEvenDue(
      cursor_, [&](const Entry& entry) { keys.emplace_back(entry.key()); });
  for (const std::string& key : keys) {
    const Unit unit(engine_.effects());
    if (engine_.effects().IsOn()) engine_.effects().Add(0, {"DEL", key});
    database.Erase(key, KeyEvent::kNone);
  }
}

}  // namespace zsetd
