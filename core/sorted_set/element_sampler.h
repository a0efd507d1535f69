#pragma once

#include <cstddef>
#include <vector>

#include "core/sorted_set/block/block.h"
#include "core/sorted_set/sorted_set.h"
#include "core/util/rng.h"

namespace zsetd {

// A copy of the elements of a set, to sample from. The blocks are copied as they are, without
// levels or index, which take SortedSet::Clone most of its time.
class ElementSampler {
 public:
  explicit ElementSampler(const SortedSet& set);  // not an empty one; O(n)
  ElementSampler(const ElementSampler&) = delete;
  ElementSampler& operator=(const ElementSampler&) = delete;
  ~ElementSampler();

  // Any of them, all equally likely; it stays in the pool. The member's bytes are valid until the
  // next draw. O(1) expected.
  Element Draw(Rng& rng);

  size_t BytesUsed() const { return bytes_used_ + blocks_.capacity() * sizeof(Block*); }

 private:
  std::vector<Block*> blocks_;
  size_t bytes_used_ = 0;  // by them
  size_t most_in_block_ = 0;
  MemberBuffer buffer_;
};

}  // namespace zsetd
