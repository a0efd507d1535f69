#pragma once

#include <cstddef>
#include <cstdint>

#include "core/util/time.h"
#include "server/cluster/topology/slot_set.h"
#include "server/cluster/topology/topology.h"
#include "server/engine/engine.h"

namespace zsetd {

// Deletes the keys of slots that belong to another node: those that have moved, and those of an
// import that has failed. The deletions are propagated. Keys are deleted only while this node is a
// master and another one is known to own their slot.
class SlotEraser {
 public:
  // The arguments outlive this.
  SlotEraser(Engine& engine, const Topology& topology) : engine_(engine), topology_(topology) {}
  SlotEraser(const SlotEraser&) = delete;

  // Deletes the keys of the slot by later calls of Continue().
  void Add(size_t slot) { slots_.Insert(slot); }

  // Deletes the keys of the slot until none is left, or the stopwatch has reached `until`. Returns
  // whether none is left; otherwise Continue() deletes the others.
  bool EraseUntil(size_t slot, Micros until);

  // Forgets all slots.
  void Clear() { slots_ = SlotSet(); }

  // The slots that may have keys to delete.
  const SlotSet& slots() const { return slots_; }

  // Deletes keys until none is left or the time has passed.
  void Continue(Micros budget);

 private:
  bool MustErase(size_t slot) const;
  void EraseSome(size_t slot);

  Engine& engine_;
  const Topology& topology_;
  SlotSet slots_;
  uint64_t cursor_ = 0;  // of the scan of the first slot
};

}  // namespace zsetd
