#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/resp/args.h"
#include "server/cluster/topology/slot_set.h"
#include "server/engine/command/command.h"
#include "server/engine/engine.h"

namespace zsetd {

// The requests that make another node's slots equal to those of this node: copies of the keys, and
// the effects of this node's changes (propagation/effects.h).
//
//   keys of the slots, in the order of a scan   | copied | cursor        not copied yet |
//   effects on them                             | sent                           dropped |
//
// A key is copied as it is at that time. Effects on keys that are not copied yet are dropped: the
// copy will contain them. If an effect concerns keys on both sides, such as RENAME, the keys are
// copied at the end of the unit instead. So no point in time needs to be kept, and several copies
// and snapshots may run in parallel.
class SlotCopy {
 public:
  // Sends an encoded request.
  using Send = std::function<void(std::string_view request)>;

  // The engine outlives this.
  SlotCopy(const Engine& engine, const SlotSet& slots, Send send);

  // Whether all keys are copied.
  bool IsDone() const { return remaining_.empty(); }

  // Copies the keys of a bucket. Precondition: not IsDone(). O(their values).
  void Step();

  bool Contains(size_t slot) const { return slots_.Contains(slot); }

  // An effect on keys of a slot that this contains. `keys` are the positions of the keys.
  void AddEffect(Args request, std::span<const std::string_view> keys);

  // The unit of these effects has ended. Sends it, as a transaction if it has several requests.
  void EndUnit();

 private:
  bool IsCopied(std::string_view key) const;
  void SendKey(const Entry& entry);
  void SkipEmptySlots();
  const Keyspace& keys() const { return engine_.store().database(0).keys(); }

  const Engine& engine_;
  const SlotSet slots_;
  const Send send_;
  SlotSet remaining_;    // not copied completely; the first one is being copied
  uint64_t cursor_ = 0;  // of the scan of the first one; its number alone: not begun
  std::set<std::string, std::less<>> copied_early_;  // keys beyond the cursor

  std::vector<std::string> unit_;             // requests of the running unit
  std::set<std::string, std::less<>> mixed_;  // keys to copy at its end
};

}  // namespace zsetd
