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
  for (; left_ > 0; --left_) FreeCopy(CurrentSlot());
}

#ifndef NDEBUG
void SetSnapshot::CheckUnchanged(const Block& block) const {
  assert(checksums_[block.id] == block.Checksum());
}
#endif

const Block& SetSnapshot::Current() {
  assert(!done());
  const uintptr_t slot = CurrentSlot();
  assert(slot != kNone);
  if (slot != kLive) return *reinterpret_cast<const Block*>(slot & ~kKeptMark);
  const Block& block = *blocks_->At(ids_[left_ - 1]);
#ifndef NDEBUG
  CheckUnchanged(block);
#endif
  return block;
}

void SetSnapshot::Pass() {
  FreeCopy(std::exchange(CurrentSlot(), kNone));
  --left_;
}

void SetSnapshot::FreeCopy(uintptr_t slot) {
  if (slot == kNone || slot == kLive || (slot & kKeptMark) != 0) return;
  auto* copy = reinterpret_cast<Block*>(slot);
  copied_bytes_ -= copy->allocated_bytes();
  copy->FreeLargeMembers();
  Block::Free(copy);
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
