#include "core/sorted_set/element_sampler.h"

#include <algorithm>

#include "core/sorted_set/block/block_builder.h"

namespace zsetd {

ElementSampler::ElementSampler(const SortedSet& set) {
  set.ForEachBlock([&](const Block& block) {
    blocks_.push_back(BlockBuilder::Clone(block));
    bytes_used_ += block.allocated_bytes() + block.LargeMemberBytes();
    most_in_block_ = std::max(most_in_block_, block.count());
  });
}

ElementSampler::~ElementSampler() {
  for (Block* block : blocks_) {
    block->FreeLargeMembers();
    Block::Free(block);
  }
}

// Rejection sampling: draws positions as if all blocks were as full as the fullest one, until a
// position has an element.
Element ElementSampler::Draw(Rng& rng) {
  while (true) {
    const Block& block = *blocks_[rng.Below(blocks_.size())];
    const size_t i = rng.Below(most_in_block_);
    if (i >= block.count()) continue;
    drawn_ = {&block, i};
    return {block.MemberAt(i, buffer_), ScoreOf(block.CodeAt(i))};
  }
}

}  // namespace zsetd
