#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/hashing/key_slot.h"
#include "core/util/time.h"

namespace zsetd {

// The load of each slot of a cluster, for CLUSTER SLOT-STATS: of the requests whose keys are in the
// slot, since the start or the last reset. Takes memory from the first addition on (384 KB).
class SlotStats {
 public:
  struct Load {
    uint64_t cpu_usec = 0;           // the time of commands
    uint64_t network_bytes_in = 0;   // the requests, as RESP
    uint64_t network_bytes_out = 0;  // the replies
  };

  void AddTime(size_t slot, Micros time) {
    At(slot).cpu_usec += static_cast<uint64_t>(time.count());
  }
  void AddTraffic(size_t slot, size_t bytes_in, size_t bytes_out) {
    Load& load = At(slot);
    load.network_bytes_in += bytes_in;
    load.network_bytes_out += bytes_out;
  }

  Load Of(size_t slot) const {
    assert(slot < kSlotCount);
    return loads_ == nullptr ? Load() : (*loads_)[slot];
  }

  void Reset() { loads_ = nullptr; }
  void Reset(size_t slot) {
    assert(slot < kSlotCount);
    if (loads_ != nullptr) (*loads_)[slot] = Load();
  }

 private:
  using Loads = std::array<Load, kSlotCount>;

  Load& At(size_t slot) {
    assert(slot < kSlotCount);
    if (loads_ == nullptr) loads_ = std::make_unique<Loads>();
    return (*loads_)[slot];
  }

  std::unique_ptr<Loads> loads_;  // null: all are 0
};

}  // namespace zsetd
