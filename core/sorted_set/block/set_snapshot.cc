#include "core/sorted_set/block/set_snapshot.h"

#include <cassert>
#include <utility>

#include "core/sorted_set/block/block_builder.h"
#include "core/sorted_set/block/block_table.h"

namespace zsetd {

SetSnapshot::SetSnapshot(BlockTable& blocks, std::vector<uint32_t> ids, size_t elements)
    : blocks_(&blocks),
      ids_(std::move(ids)),
      size_(elements),
      left_(ids_.size()),
      slots_(blocks.IdLimit(), kNone) {
  assert(blocks.snapshot() == nullptr);
  for (const uint32_t id : ids_) slots_[id] = kLive;
#ifndef NDEBUG
  checksums_.resize(slots_.size());
  for (const uint32_t id : ids_) checksums_[id] = blocks.At(id)->Checksum();
#endif
  blocks.set_snapshot(this);
}

SetSnapshot::~SetSnapshot() {
  if (blocks_ != nullptr) blocks_->set_snapshot(nullptr);
  for (; left_ > 0; --left_) {
    if (IsCopy(CurrentSlot())) TakeCopy(CurrentSlot()).reset();
  }
}

#ifndef NDEBUG
void SetSnapshot::CheckUnchanged(const Block& block) const {
  assert(checksums_[block.id] == block.Checksum());
}
#endif

OwnedBlock SetSnapshot::Take() {
  assert(!done());
  const uintptr_t slot = std::exchange(CurrentSlot(), kNone);
  const uint32_t id = ids_[--left_];
  assert(slot != kNone);
  if (IsCopy(slot)) return TakeCopy(slot);
  if (slot != kLive) {
    return OwnedBlock(BlockBuilder::Clone(*reinterpret_cast<const Block*>(slot & ~kKeptMark)));
  }
  const Block& block = *blocks_->At(id);
#ifndef NDEBUG
  CheckUnchanged(block);
#endif
  return OwnedBlock(BlockBuilder::Clone(block));
}

OwnedBlock SetSnapshot::TakeCopy(uintptr_t slot) {
  OwnedBlock copy(reinterpret_cast<Block*>(slot));
  copied_bytes_ -= copy->allocated_bytes();
  return copy;
}

void SetSnapshot::Copy(const Block& block) {
#ifndef NDEBUG
  CheckUnchanged(block);
#endif
  const Block* copy = BlockBuilder::Clone(block);
  copied_bytes_ += copy->allocated_bytes();
  slots_[block.id] = reinterpret_cast<uintptr_t>(copy);
}

void SetSnapshot::Keep(const std::vector<Block*>& blocks, std::shared_ptr<DetachedBlocks> run) {
  for (const Block* block : blocks) {
    if (block->id >= slots_.size() || slots_[block->id] != kLive) continue;
    slots_[block->id] = reinterpret_cast<uintptr_t>(block) | kKeptMark;
  }
  runs_.push_back(std::move(run));
}

void SetSnapshot::Detach() {
  for (size_t i = 0; i < left_; ++i) {
    if (slots_[ids_[i]] == kLive) Copy(*blocks_->At(ids_[i]));
  }
  blocks_ = nullptr;
}

}  // namespace zsetd
