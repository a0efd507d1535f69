#pragma once

#include <cstddef>
#include <utility>

#include "absl/container/btree_set.h"
#include "core/time.h"

namespace zsetd {

class Entry;

// The entries that have a deadline, ordered by it, so that what is due is found without a search.
// O(log n) a change, O(1) for all else. Movable; what was moved from is empty.
class Deadlines {
 public:
  Deadlines() = default;
  Deadlines(Deadlines&& other) noexcept { *this = std::move(other); }
  Deadlines& operator=(Deadlines&& other) noexcept;

  void Add(Millis deadline, Entry& entry);
  void Remove(Millis deadline, Entry& entry);  // it is there

  // The entry with the earliest deadline, or the latest; null if there is none. Among equals any.
  Entry* Earliest() const;
  Entry* Latest() const;

  // The mean of all deadlines, rounded towards 1970; 0 if there are none. O(1).
  Millis Mean() const;

  size_t size() const { return index_.size(); }

  // The heap bytes, estimated: the tree does not tell how full its nodes are. glibc gave out so
  // many for each of a million entries with Debian 12's abseil: 18.7 for deadlines that came in
  // order, 22.7 for deadlines in any order.
  static constexpr size_t kBytesPerEntry = 23;
  size_t BytesUsed() const { return size() * kBytesPerEntry; }

 private:
  absl::btree_set<std::pair<Millis, Entry*>> index_;
  __int128 sum_ = 0;  // of all deadlines, which can each be as large as 64 bits allow
};

}  // namespace zsetd
