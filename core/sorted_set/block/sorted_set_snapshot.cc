#include "core/sorted_set/block/sorted_set_snapshot.h"

#include <utility>

#include "core/sorted_set/block/block_builder.h"
#include "core/sorted_set/block/block_table.h"

namespace zsetd {

OwnedBlock BlockPieces::Clone(const Block& block) { return OwnedBlock(BlockBuilder::Clone(block)); }

SortedSetSnapshot::SortedSetSnapshot(BlockTable& blocks, std::span<const uint32_t> ids,
                                     size_t elements)
    : size_(elements), pieces_(ids.size(), blocks.IdLimit()), link_(blocks.snapshot(), *this) {
  for (auto id = ids.rbegin(); id != ids.rend(); ++id) pieces_.Add(*id, *blocks.At(*id));
}

void SortedSetSnapshot::Keep(std::shared_ptr<DetachedBlocks> run) {
  for (const Block* block : run->blocks()) pieces_.Keep(block->id);
  runs_.push_back(std::move(run));
}

void SortedSetSnapshot::Detach() {
  pieces_.CopyAll();
  link_.Cut();
}

}  // namespace zsetd
