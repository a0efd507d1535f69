#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"

namespace zsetd {

// Where in the append-only log each key was changed last, so that a reader of the key can wait
// until that position is durable. Keys share slots: a position may be later than necessary, never
// earlier.
//
// A change is noted when it is made, and gets the position that the log returns for the next unit.
// A change that no unit contains (DEBUG POPULATE, DEBUG RELOAD) therefore never makes a reader wait
// for a position that does not exist.
class RecentChanges {
 public:
  // Notes a change that the running unit is to contain. O(1).
  void Note(int database, std::string_view key) {
    if (slots_.empty()) slots_.resize(kSlots);
    const size_t slot = SlotOf(database, key);
    if (slots_[slot].is_noted) return;
    slots_[slot].is_noted = true;
    noted_.push_back(slot);
  }

  // Notes that any key may have changed. O(1).
  void NoteAll() { all_are_noted_ = true; }

  // Whether a noted change has no position yet.
  bool HasNotes() const { return all_are_noted_ || !noted_.empty(); }

  // Gives the noted changes this position, which the log has returned. O(notes).
  void Place(uint64_t position) {
    for (const size_t slot : noted_) slots_[slot] = {.position = position};
    noted_.clear();
    if (std::exchange(all_are_noted_, false)) slots_.assign(kSlots, {.position = position});
    latest_ = position;
  }

  // The position of the key's last change, or 0. O(1).
  uint64_t Of(int database, std::string_view key) const {
    return slots_.empty() ? 0 : slots_[SlotOf(database, key)].position;
  }

  // The position of the last change of any key.
  uint64_t latest() const { return latest_; }

 private:
  struct Slot {
    uint64_t position = 0;
    bool is_noted = false;
  };

  static constexpr size_t kSlots = 4096;

  static size_t SlotOf(int database, std::string_view key) {
    return absl::HashOf(database, key) % kSlots;
  }

  std::vector<Slot> slots_;    // empty while no key was changed
  std::vector<size_t> noted_;  // indexes of slots, each once
  bool all_are_noted_ = false;
  uint64_t latest_ = 0;
};

}  // namespace zsetd
