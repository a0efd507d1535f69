// Blocks that are made, copied and freed, with or without their LargeMembers.

#include <algorithm>
#include <cassert>
#include <new>

#include "core/sorted_set/block/block.h"
#include "core/sorted_set/block/block_bytes.h"
#include "core/util/allocation.h"

namespace zsetd {

Block* Block::Allocate(size_t bytes, const BlockFormat& format, size_t count) {
  void* memory = ::operator new(std::max(bytes, sizeof(Block)));
  Block* block = new (memory) Block(format, count);
  block->capacity_ = AllocatedBytes(memory);
  assert(block->capacity_ == AllocatedBytes(memory));
  return block;
}

void Block::Free(Block* block) { ::operator delete(block); }

Block* Block::Copied(const Block& block, size_t room) {
  const size_t front_bytes = block.FrontEnd() - block.Data();
  const size_t member_bytes = block.MemberBytes(block.count_);
  const size_t bytes = kHeaderBytes + front_bytes + member_bytes + room;
  Block* copy = Allocate(bytes, block.format_, block.count_);
  copy->TakePlaceOf(block);
  Copy(Mutable(copy->Data()), block.Data(), front_bytes);
  Copy(Mutable(copy->End()) - member_bytes, block.End() - member_bytes, member_bytes);
  return copy;
}

Block* Block::Moved(Block* block, size_t room) {
  Block* moved = Copied(*block, room);
  Free(block);
  return moved;
}

Block* Block::Clone(const Block& block) {
  Block* clone = Copied(block, 0);
  for (size_t i = 0; clone->HasLengths() && i < clone->count_; ++i) {
    const LargeMember* shared = clone->LargeAt(i);
    if (shared == nullptr) continue;
    LargeMember* own = LargeMember::Make(shared->view());
    Copy(Mutable(clone->MemberPlace(i)), &own, sizeof(own));
  }
  return clone;
}

size_t Block::LargeMemberBytes() const {
  size_t bytes = 0;
  for (size_t i = 0; HasLengths() && i < count_; ++i) bytes += AllocatedBytes(LargeAt(i));
  return bytes;
}

void Block::FreeLargeMembers() {
  for (size_t i = 0; HasLengths() && i < count_; ++i) {
    if (LargeMember* large = LargeAt(i)) LargeMember::Free(large);
  }
}

}  // namespace zsetd
