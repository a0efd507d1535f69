#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/sorted_set/block/block.h"
#include "core/sorted_set/block/block_packing.h"
#include "core/sorted_set/skip_list/block_skip_list.h"
#include "core/sorted_set/skip_list/member_index.h"
#include "core/sorted_set/sorted_set.h"

namespace zsetd {

// Packs elements that arrive in order into full blocks, and makes a BlockSkipList of them at the
// end.
//
//   from the first on, ascending       [ block 0 ] [ block 1 ] [ block 2 ] <--
//   from the last on, descending   --> [ block 2 ] [ block 1 ] [ block 0 ]
//
// For the index, it also stores the hash of each member and the number of its block.
class BlockRun {
 public:
  explicit BlockRun(BlockSide from) : from_(from) {}
  BlockRun(const BlockRun&) = delete;
  BlockRun& operator=(const BlockRun&) = delete;
  ~BlockRun();

  // Packs the first their hashes elements, as many as one block takes, and returns their number.
  // They follow the elements packed before. Precondition: at least one element.
  size_t Pack(std::span<const Element> elements);

  bool empty() const { return blocks_.empty(); }

  // The blocks in the order in which they were packed.
  std::span<Block* const> blocks() const { return blocks_; }

  // Returns the list of all packed elements, at least one; null if a member was packed twice. May
  // be called once. O(n).
  std::unique_ptr<BlockSkipList> Build();

 private:
  const BlockSide from_;
  std::vector<Block*> blocks_;
  std::vector<MemberIndex::Member> members_;
  size_t likely_most_ = Block::kMaxCount;  // most elements of the next block, from the last
  std::vector<BlockItem> items_;           // the elements of one block
  std::vector<uint64_t> hashes_;           // of these
};

}  // namespace zsetd
