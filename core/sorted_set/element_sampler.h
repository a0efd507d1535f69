#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "core/sorted_set/block/block.h"
#include "core/sorted_set/sorted_set.h"
#include "core/util/rng.h"

namespace zsetd {

// A copy of the elements of a set for sampling. Only the blocks are copied. Levels and index, which
// take most of the time of SortedSet::Clone(), are not.
class ElementSampler {
 public:
  explicit ElementSampler(const SortedSet& set);  // not an empty one; O(n)
  ElementSampler(const ElementSampler&) = delete;
  ElementSampler& operator=(const ElementSampler&) = delete;
  ~ElementSampler();

  // Draws an element with replacement, all equally likely. The member's bytes are valid until the
  // next draw. O(1) expected.
  Element Draw(Rng& rng);

  // The payload of the element that was drawn last, if it has one.
  std::optional<std::string_view> drawn_payload() const {
    return drawn_.block->PayloadAt(drawn_.index).view();
  }

  size_t BytesUsed() const { return bytes_used_ + blocks_.capacity() * sizeof(Block*); }

 private:
  std::vector<Block*> blocks_;
  size_t bytes_used_ = 0;  // by them
  size_t most_in_block_ = 0;
  MemberBuffer buffer_;
  BlockPlace drawn_;
};

}  // namespace zsetd
