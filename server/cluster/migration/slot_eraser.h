#pragma once

#include <cstddef>
#include <cstdint>

#include "core/util/time.h"
#include "server/cluster/topology/slot_set.h"
#include "server/cluster/topology/topology.h"
#include "server/engine/engine.h"

namespace zsetd {

// Deletes the keys of slots that belong to another node: those that have moved, and those of an
// import that has failed. The deletions are propagated.
//
// Keys are deleted only while this node is a master and another one is known to own their slot.
// While no owner is known they wait, hidden: the owner may have been forgotten for a moment. If
// this node becomes the owner (CLUSTER ADDSLOTS), the keys stay and are its own, because they may
// be the last copy: an administrator can delete them, but not restore them.
class SlotEraser {
 public:
  // The arguments outlive this.
  SlotEraser(Engine& engine, const Topology& topology) : engine_(engine), topology_(topology) {}
  SlotEraser(const SlotEraser&) = delete;

  // Deletes the keys of the slot by later calls of Continue().
  void Add(size_t slot) {
    slots_.Insert(slot);
    is_waiting_ = false;
  }

  // Deletes the keys of the slot until none is left, or the stopwatch has reached `until`. Returns
  // whether none is left; otherwise Continue() deletes the others. Also returns false if no owner
  // is known.
  bool EraseUntil(size_t slot, Micros until);

  // Forgets all slots.
  void Clear() { slots_ = SlotSet(); }

  // The slots that may have keys to delete.
  const SlotSet& slots() const { return slots_; }

  // Whether Continue() may have something to do, unless the owners have changed since the last
  // call.
  bool HasWork() const { return !slots_.empty() && !is_waiting_; }

  // Deletes keys until none is left that may be deleted, or the time has passed.
  void Continue(Micros budget);

 private:
  bool IsDone(size_t slot) const;
  bool MayErase(size_t slot) const;
  void EraseSome(size_t slot);

  Engine& engine_;
  const Topology& topology_;
  SlotSet slots_;
  uint64_t cursor_ = 0;      // of the scan of the present slot
  bool is_waiting_ = false;  // the last Continue() has left only slots without a known owner
};

}  // namespace zsetd
