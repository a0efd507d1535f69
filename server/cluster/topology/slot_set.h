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

  bool operator==(const SlotSet& other) const { return bytes_ == other.bytes_; }

 private:
  Bytes bytes_{};
  size_t count_ = 0;  // of set bits
};

}  // namespace zsetd
