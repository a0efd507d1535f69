// The entries with a deadline, ordered by deadline, so that due entries are found without a search.
//
// A tree with one pair of eight-byte words in a slot costs 19 to 23 bytes for each entry. Here a
// pair takes twice six bytes, in a block of up to 128 pairs, which grows by a few pairs at a time.
// The tree has one slot for each block. Deadlines that arrive in order fill their blocks.
//
//     blocks_   [ bound | * ]          [ bound | * ]          [ bound | * ]
//                        |                      |                      |
//     block     deadline entry | deadline entry | ...      sorted by deadline, then by address
//
// Six bytes hold the milliseconds of 4,400 years to either side of 1970. A deadline further away is
// indexed as the furthest; the entry itself keeps the exact one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "core/util/rng.h"
#include "core/util/time.h"

namespace zsetd {

class Entry;

// Invariants: no block is empty; the places of a block are not before its bound, and before the
// bound of the next block. A change is O(log n); other functions are O(1). Movable; a moved-from
// index is empty.
class ExpiryIndex {
 public:
  ExpiryIndex() = default;
  ExpiryIndex(ExpiryIndex&& other) noexcept { *this = std::move(other); }
  ExpiryIndex& operator=(ExpiryIndex&& other) noexcept;

  void Add(Millis deadline, Entry& entry);
  void Remove(Millis deadline, Entry& entry);  // the entry was added

  // Whether the entry was added with this deadline. O(log n).
  bool Contains(Millis deadline, const Entry& entry) const;

  // The entry with the earliest or the latest deadline; null if the index is empty. Among equal
  // deadlines, any of them.
  Entry* Earliest() const;
  Entry* Latest() const;

  // A random entry, all equally likely; null if the index is empty. O(blocks), a few nanoseconds
  // each.
  Entry* Random(Rng& rng) const;

  // The mean of all deadlines, rounded towards 1970; 0 if the index is empty. O(1).
  Millis Mean() const;

  size_t size() const { return size_; }

  // Asserts the invariants; for tests. O(n).
  void Check() const;

  // The heap bytes, estimated: what jemalloc allocated for each of a million entries with deadlines
  // in random order; 12.6 in ascending order.
  static constexpr size_t kBytesPerEntry = 14;
  size_t BytesUsed() const { return size() * kBytesPerEntry; }

 private:
  // A deadline and its entry, as one number of 96 bits. The default value is before all others.
  class Place {
   public:
    Place() = default;
    Place(Millis deadline, const Entry& entry);
    Entry* entry() const;
    friend auto operator<=>(const Place&, const Place&) = default;

   private:
    uint32_t high_ = 0;    // of the deadline
    uint32_t middle_ = 0;  // the rest of the deadline, the beginning of the address
    uint32_t low_ = 0;     // of the address
  };
  using Block = std::vector<Place>;
  using Blocks = absl::btree_map<Place, Block>;

  // The block that has or would have the place. Precondition: the index is not empty.
  Blocks::iterator BlockFor(const Place& place);
  void Split(Blocks::iterator block, const Place& added);
  void MergeIfSparse(Blocks::iterator block);
  void Fill(Blocks::iterator empty);

  Blocks blocks_;
  size_t size_ = 0;
  __int128 sum_ = 0;  // of all deadlines, which can each be as large as 64 bits allow
};

}  // namespace zsetd
