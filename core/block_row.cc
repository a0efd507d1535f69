#include "core/block_row.h"

#include "core/allocation.h"

namespace zsetd {

BlockRow::~BlockRow() {
  for (uint32_t id = 0; id < table_.size(); ++id) {
    Block* block = Find(id);
    if (block == nullptr) continue;
    if (large_count_ > 0) block->FreeLargeMembers();
    Block::Free(block);
  }
}

Block* BlockRow::Find(uint32_t id) const {
  const uintptr_t slot = table_[id];
  return slot & 1 ? nullptr : Pointer(slot);
}

uint32_t BlockRow::NewId() {
  if (first_free_ == kNone) {
    table_.Append(0);
    return static_cast<uint32_t>(table_.size() - 1);
  }
  const uint32_t id = first_free_;
  first_free_ = static_cast<uint32_t>(table_[id] >> 1);
  return id;
}

uint32_t BlockRow::Add(Block* block, Block* left) {
  block->id = NewId();
  block->previous = left ? left->id : kNone;
  block->next = left ? left->next : first_;
  table_[block->id] = reinterpret_cast<uintptr_t>(block);
  (left ? left->next : first_) = block->id;
  (block->next == kNone ? last_ : At(block->next)->previous) = block->id;
  ++count_;
  bytes_used_ += block->allocated_bytes();
  return block->id;
}

void BlockRow::Replace(Block* block, size_t old_bytes) {
  table_[block->id] = reinterpret_cast<uintptr_t>(block);
  bytes_used_ += block->allocated_bytes() - old_bytes;
}

Block* BlockRow::ReleaseOnly() {
  Block* block = First();
  table_[block->id] = FreeSlot(first_free_);
  return block;
}

void BlockRow::Remove(Block* block) {
  (block->previous == kNone ? first_ : At(block->previous)->next) = block->next;
  (block->next == kNone ? last_ : At(block->next)->previous) = block->previous;
  table_[block->id] = FreeSlot(first_free_);
  first_free_ = block->id;
  --count_;
  bytes_used_ -= block->allocated_bytes();
  Block::Free(block);
}

void BlockRow::CountLarge(const LargeMember* large) {
  if (large == nullptr) return;
  bytes_used_ += AllocatedBytes(large);
  ++large_count_;
}

void BlockRow::FreeLarge(LargeMember* large) {
  if (large == nullptr) return;
  bytes_used_ -= AllocatedBytes(large);
  --large_count_;
  LargeMember::Free(large);
}

}  // namespace zsetd
