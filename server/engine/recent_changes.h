#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/hash/hash.h"

namespace zsetd {

// Where in the append-only log each key was changed last, so that a reader of the key can wait
// until that is durable. Keys share slots: the answer may be later than it need be, never earlier.
class RecentChanges {
 public:
  // O(1).
  void Record(int database, std::string_view key, uint64_t position) {
    if (slots_.empty()) slots_.resize(kSlots);
    slots_[SlotOf(database, key)] = position;
    latest_ = position;
  }

  // Any key may have changed.
  void RecordAll(uint64_t position) {
    slots_.assign(kSlots, position);
    latest_ = position;
  }

  // 0 if it was not changed. O(1).
  uint64_t Of(int database, std::string_view key) const {
    return slots_.empty() ? 0 : slots_[SlotOf(database, key)];
  }
  uint64_t latest() const { return latest_; }  // of any key

 private:
  static constexpr size_t kSlots = 4096;

  static size_t SlotOf(int database, std::string_view key) {
    return absl::HashOf(database, key) % kSlots;
  }

  std::vector<uint64_t> slots_;  // none while nothing was changed
  uint64_t latest_ = 0;
};

}  // namespace zsetd
