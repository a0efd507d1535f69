#include "core/stream/stream_snapshot.h"

#include <utility>

namespace zsetd {

StreamSnapshot::StreamSnapshot(Blocks& blocks, StreamTail tail, StreamSnapshot*& pointer)
    : tail_(std::move(tail)), pieces_(blocks.size(), blocks.size()), link_(pointer, *this) {
  uint32_t number = 0;
  for (const StreamBlock::Owned& block : blocks) {
    block->set_number(number);
    pieces_.Add(number++, *block);
  }
}

void StreamSnapshot::BeforeRemoval(StreamBlock::Owned block) {
  if (block->number() == StreamBlock::kNoNumber) return;
  const uint32_t number = block->number();
  pieces_.TakeOver(number, std::move(block));
}

}  // namespace zsetd
