#include "core/sorted_set/block/block_table.h"

#include <cassert>

#include "core/sorted_set/block/block_builder.h"
#include "core/util/allocation.h"
#include "core/util/cache_line.h"

namespace zsetd {

DetachedBlocks::~DetachedBlocks() {
  for (Block* block : blocks_) {
    if (with_large_) block->FreeLargeMembers();
    Block::Free(block);
  }
}

BlockTable::BlockTable(std::span<Block* const> blocks) {
  for (Block* block : blocks) {
    Add(block, count_ == 0 ? nullptr : Last());
    CountLarge(*block);
  }
}

BlockTable::BlockTable(const BlockTable& other)
    : first_(other.first_),
      last_(other.last_),
      first_free_(other.first_free_),
      count_(other.count_) {
  for (uint32_t id = 0; id < other.table_.size(); ++id) {
    table_.Append(other.table_[id]);
    const Block* block = other.Find(id);
    if (block == nullptr) continue;
    Block* clone = BlockBuilder::Clone(*block);
    table_[id] = reinterpret_cast<uintptr_t>(clone);
    bytes_used_ += clone->allocated_bytes();
    if (other.large_count_ > 0) CountLarge(*clone);
  }
}

BlockTable::~BlockTable() {
  if (snapshot_ != nullptr) snapshot_->Detach();
  for (uint32_t id = 0; id < table_.size(); ++id) {
    if (Find(id) == nullptr) continue;
    Block* block = PointerAt(id);
    if (large_count_ > 0) block->FreeLargeMembers();
    Block::Free(block);
  }
}

uint32_t BlockTable::NewId() {
  if (first_free_ == kNone) {
    table_.Append(0);
    return static_cast<uint32_t>(table_.size() - 1);
  }
  const uint32_t id = first_free_;
  first_free_ = static_cast<uint32_t>(table_[id] >> 1);
  return id;
}

uint32_t BlockTable::Add(Block* block, const Block* left) {
  block->id = NewId();
  block->previous = left ? left->id : kNone;
  block->next = left ? left->next : first_;
  table_[block->id] = reinterpret_cast<uintptr_t>(block);
  (left ? PointerAt(left->id)->next : first_) = block->id;
  (block->next == kNone ? last_ : PointerAt(block->next)->previous) = block->id;
  ++count_;
  bytes_used_ += block->allocated_bytes();
  return block->id;
}

void BlockTable::Replace(Block* block, size_t old_bytes) {
  table_[block->id] = reinterpret_cast<uintptr_t>(block);
  bytes_used_ += block->allocated_bytes() - old_bytes;
}

Block* BlockTable::ReleaseOnly() {
  assert(count_ == 1);
  Block* block = Mutable(First());
  table_[block->id] = FreeSlot(first_free_);
  return block;
}

void BlockTable::Remove(const Block* block) {
  Block* removed = Mutable(block);
  (block->previous == kNone ? first_ : PointerAt(block->previous)->next) = block->next;
  (block->next == kNone ? last_ : PointerAt(block->next)->previous) = block->previous;
  table_[block->id] = FreeSlot(first_free_);
  first_free_ = block->id;
  --count_;
  bytes_used_ -= block->allocated_bytes();
  Block::Free(removed);
}

std::shared_ptr<DetachedBlocks> BlockTable::Cut(std::span<const uint32_t> ids) {
  const bool with_large = large_count_ > 0;
  constexpr size_t kAhead = 16;  // blocks whose headers are being prefetched
  const uint32_t left = At(ids.front())->previous, right = At(ids.back())->next;
  std::vector<Block*> blocks;
  blocks.reserve(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i + kAhead < ids.size()) PrefetchLine(At(ids[i + kAhead]));
    Block* block = blocks.emplace_back(PointerAt(ids[i]));
    bytes_used_ -= block->allocated_bytes();
    if (with_large) DiscountLarge(*block);
    table_[ids[i]] = kCutSlot;
  }
  (left == kNone ? first_ : PointerAt(left)->next) = right;
  (right == kNone ? last_ : PointerAt(right)->previous) = left;
  count_ -= ids.size();
  auto detached = std::make_shared<DetachedBlocks>(std::move(blocks), with_large);
  if (snapshot_ != nullptr) snapshot_->Keep(detached);
  return detached;
}

void BlockTable::FreeIds(std::span<const uint32_t> ids) {
  for (const uint32_t id : ids) {
    table_[id] = FreeSlot(first_free_);
    first_free_ = id;
  }
}

void BlockTable::CountLarge(const Block& block) {
  block.ForEachLarge(0, block.count(), [this](const LargeMember* large) { CountLarge(large); });
}

void BlockTable::DiscountLarge(const Block& block) {
  block.ForEachLarge(0, block.count(), [this](const LargeMember* large) {
    bytes_used_ -= AllocatedBytes(large);
    --large_count_;
  });
}

void BlockTable::CountLarge(const LargeMember* large) {
  if (large == nullptr) return;
  bytes_used_ += AllocatedBytes(large);
  ++large_count_;
}

void BlockTable::FreeLarge(LargeMember* large) {
  if (large == nullptr) return;
  bytes_used_ -= AllocatedBytes(large);
  --large_count_;
  LargeMember::Free(large);
}

}  // namespace zsetd
