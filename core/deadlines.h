#pragma once

#include <cstddef>
#include <utility>

#include "absl/container/btree_set.h"
#include "core/time.h"

namespace zsetd {

class Entry;

// The entries that have a deadline, ordered by it, so that what is due is found without a search.
// O(log n) a change, O(1) for the earliest.
class Deadlines {
 public:
  void Add(Millis deadline, Entry& entry);
  void Remove(Millis deadline, Entry& entry);  // it is there

  // The entry with the earliest deadline, or null. Among equals any.
  Entry* Earliest() const;

  size_t size() const { return index_.size(); }
  size_t BytesUsed() const;

 private:
  absl::btree_set<std::pair<Millis, Entry*>> index_;
};

}  // namespace zsetd
