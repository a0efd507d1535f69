#pragma once

#include <cstddef>
#include <span>

#include "core/sorted_set/block/block.h"

namespace zsetd {

// Makes blocks from items and from other blocks. block_packing.h has the rules for their use.
//
// Pack() encodes each member; the other functions copy encoded bytes. So a split is cheap if
// packing again would find no tighter format.
class BlockBuilder {
 public:
  // A block of the items in the format of `plan`, which was made for them. There are 1 to
  // Block::kMaxCount of them. The block takes over their LargeMembers.
  static Block* Pack(std::span<const BlockItem> items, const BlockPlan& plan);

  // A copy, including LargeMembers, without free bytes.
  static Block* Clone(const Block& block);

  // A copy of the elements from `first` to before `last`, at least one, in the same format, with
  // `room` free bytes. Both blocks refer to the same LargeMembers, which only one of them may free.
  static Block* Part(const Block& block, size_t first, size_t last, size_t room);

  // The same block in a larger or smaller allocation with `room` free bytes; the old one is freed.
  static Block* Moved(Block* block, size_t room);

  // Whether packing the elements again would take as many bytes. Returns false if an exact answer
  // would be slow.
  static bool IsTight(const Block& block);

 private:
  static Block* Allocate(size_t bytes, const BlockFormat& format, size_t count);
  static void WriteDeadlines(Block& block, std::span<const uint64_t> deadlines);
  static void WritePayloads(Block& block, std::span<const BlockItem> items);
  static Block* Copied(const Block& block, size_t room);  // with the same LargeMembers

  static int ScoreBits(const Block& block);
  static bool NumbersAreTight(const Block& block);
  static bool BytesAreTight(const Block& block);
};

}  // namespace zsetd
