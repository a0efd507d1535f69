#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "core/hashing/key_slot.h"

namespace zsetd {

// A set of slots. The bytes are those of a bus message: slot s is bit s % 8 of byte s / 8.
class SlotSet {
 public:
  static constexpr size_t kBytes = kSlotCount / 8;
  using Bytes = std::array<uint8_t, kBytes>;

  SlotSet() = default;

  explicit SlotSet(const Bytes& bytes) : bytes_(bytes) {
    for (const uint8_t byte : bytes_) count_ += std::popcount(byte);
  }

  bool Contains(size_t slot) const {
    assert(slot < kSlotCount);
    return (bytes_[slot / 8] >> slot % 8 & 1) != 0;
  }

  void Insert(size_t slot) {
    if (Contains(slot)) return;
    bytes_[slot / 8] |= 1 << slot % 8;
    ++count_;
  }

  void Erase(size_t slot) {
    if (!Contains(slot)) return;
    bytes_[slot / 8] &= ~(1 << slot % 8);
    --count_;
  }

  // The least slot. Precondition: the set is not empty. O(kBytes).
  size_t First() const {
    assert(!empty());
    size_t at = 0;
    while (bytes_[at] == 0) ++at;
    return at * 8 + static_cast<size_t>(std::countr_zero(bytes_[at]));
  }

  // The least slot >= `from`; kSlotCount without such a slot. O(kBytes).
  size_t Next(size_t from) const { return Next(from, true); }

  size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  const Bytes& bytes() const { return bytes_; }

  // Calls `visit(slot)` for each slot in ascending order. O(kBytes), without the calls.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (size_t at = 0; at < kBytes; ++at) {
      for (unsigned bits = bytes_[at]; bits != 0; bits &= bits - 1) {
        visit(at * 8 + std::countr_zero(bits));
      }
    }
  }

  // Calls `visit(first, last)` for each longest range of slots, in ascending order. O(kBytes +
  // ranges).
  template <typename Visit>
  void ForEachRange(Visit visit) const {
    for (size_t end = 0, first = Next(0, true); first < kSlotCount; first = Next(end, true)) {
      end = Next(first, false);
      visit(first, end - 1);
    }
  }

  bool operator==(const SlotSet& other) const { return bytes_ == other.bytes_; }

  // The slots of both sets. O(kBytes).
  SlotSet operator|(const SlotSet& other) const {
    Bytes all;
    for (size_t at = 0; at < kBytes; ++at) all[at] = bytes_[at] | other.bytes_[at];
    return SlotSet(all);
  }

  // The slots of this set that `other` does not contain. O(kBytes).
  SlotSet operator-(const SlotSet& other) const {
    Bytes rest;
    for (size_t at = 0; at < kBytes; ++at) rest[at] = bytes_[at] & ~other.bytes_[at];
    return SlotSet(rest);
  }

 private:
  // Returns the least slot >= `from` that is in the set, or is not; kSlotCount if none does.
  size_t Next(size_t from, bool is_in_set) const {
    while (from < kSlotCount) {
      const unsigned byte = is_in_set ? bytes_[from / 8] : 0xff ^ bytes_[from / 8];
      if (const unsigned bits = byte >> from % 8) return from + std::countr_zero(bits);
      from += 8 - from % 8;
    }
    return kSlotCount;
  }

  Bytes bytes_{};
  size_t count_ = 0;  // of set bits
};

}  // namespace zsetd
