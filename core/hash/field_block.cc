#include "core/hash/field_block.h"

#include <cassert>
#include <cstring>
#include <new>
#include <utility>

#include "core/util/allocation.h"

namespace zsetd {
namespace {

constexpr size_t kAllocationStep = 16;  // the allocator's granularity

}  // namespace

FieldBlock FieldBlock::Clone() const {
  FieldBlock copy;
  if (!memory_) return copy;
  copy.MoveTo(bytes());
  std::memcpy(copy.fields(), fields(), bytes());
  copy.header().count = header().count;
  copy.header().bytes = header().bytes;
  return copy;
}

size_t FieldBlock::BytesUsed() const { return AllocatedBytes(memory_.get()); }

size_t FieldBlock::PlaceOf(std::string_view name) const {
  const size_t end = bytes();
  size_t place = 0;
  while (place < end) {
    const Field field = At(place);
    if (field.name == name) break;
    place = field.end() - fields();
  }
  return place;
}

size_t FieldBlock::PlaceAt(size_t index) const {
  assert(index < count());
  size_t place = 0;
  for (; index > 0; --index) place = PlaceAfter(place);
  return place;
}

void FieldBlock::Append(const Field& field) {
  assert(PlaceOf(field.name) == bytes());
  Pack(OpenGap(bytes(), 0, PackedBytes(field)), field);
  ++header().count;
}

void FieldBlock::Replace(size_t place, const Field& field) {
  assert(place < bytes() && At(place).name == field.name);
  Pack(OpenGap(place, PackedBytes(At(place)), PackedBytes(field)), field);
}

void FieldBlock::Erase(size_t place) {
  assert(place < bytes());
  OpenGap(place, PackedBytes(At(place)), 0);
  if (--header().count == 0) return memory_.reset();
  if (header().bytes < header().capacity / 2) MoveTo(header().bytes);
}

// Replaces `old_bytes` at `place` by room for `new_bytes` and moves the fields after them. Memory
// grows by a quarter at a time, because blocks are small and most are written only once.
char* FieldBlock::OpenGap(size_t place, size_t old_bytes, size_t new_bytes) {
  const size_t needed = bytes() - old_bytes + new_bytes;
  if (!memory_ || needed > header().capacity) MoveTo(needed + bytes() / 4);
  char* gap = fields() + place;
  std::memmove(gap + new_bytes, gap + old_bytes, bytes() - place - old_bytes);
  header().bytes = needed;
  return gap;
}

void FieldBlock::MoveTo(size_t capacity) {
  const size_t steps = (sizeof(Header) + capacity + kAllocationStep - 1) / kAllocationStep;
  auto memory = std::make_unique_for_overwrite<char[]>(steps * kAllocationStep);
  ::new (memory.get()) Header();
  if (memory_) std::memcpy(memory.get(), memory_.get(), sizeof(Header) + bytes());
  memory_ = std::move(memory);
  header().capacity = steps * kAllocationStep - sizeof(Header);
}

}  // namespace zsetd
