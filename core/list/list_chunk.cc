#include "core/list/list_chunk.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "core/hashing/keyed_hash.h"
#include "core/util/allocation.h"
#include "core/util/varint.h"

namespace zsetd {
namespace {

constexpr size_t kLeastCapacity = 16;

void WriteElement(char* at, std::string_view element) {
  at = WriteVarintForward(at, element.size());
  at = std::copy(element.begin(), element.end(), at);
  WriteVarintBackward(at, element.size());
}

}  // namespace

size_t ListChunk::PackedBytes(std::string_view element) {
  return element.size() + 2 * VarintBytes(element.size());
}

ListChunk ListChunk::Clone() const {
  ListChunk copy;
  copy.Append(*this);
  return copy;
}

#ifndef NDEBUG
uint64_t ListChunk::Checksum() const { return KeyedHash({first(), bytes_}); }
#endif

size_t ListChunk::BytesUsed() const { return AllocatedBytes(block_.get()); }

bool ListChunk::Takes(std::string_view element) const {
  return empty() || bytes_ + PackedBytes(element) <= kFullBytes;
}

bool ListChunk::TakesAt(End end, std::string_view element) const {
  const bool may_move = capacity_ < kFullBytes || bytes_ <= kFullBytes / 2;
  return Takes(element) && (may_move || RoomAt(end) >= PackedBytes(element));
}

void ListChunk::Push(End end, std::string_view element) {
  assert(Takes(element));
  const size_t place = end == End::kFront ? 0 : bytes_;
  WriteElement(OpenGap(end, place, PackedBytes(element)), element);
  ++count_;
}

void ListChunk::Insert(size_t place, std::string_view element) {
  assert(Takes(element) && place <= bytes_);
  const End closer = place < bytes_ - place ? End::kFront : End::kBack;
  WriteElement(OpenGap(closer, place, PackedBytes(element)), element);
  ++count_;
}

void ListChunk::Erase(size_t first_place, size_t last_place, size_t count) {
  assert(first_place <= last_place && last_place <= bytes_ && count <= count_);
  const size_t gap = last_place - first_place;
  const size_t behind = bytes_ - last_place;
  if (first_place < behind) {
    std::memmove(first() + gap, first(), first_place);
    front_room_ += gap;
  } else {
    std::memmove(first() + first_place, first() + last_place, behind);
  }
  bytes_ -= gap;
  count_ -= count;

  const size_t capacity = std::max(2 * bytes_, kLeastCapacity);
  if (capacity < capacity_ / 2) MoveTo(capacity, (capacity - bytes_) / 2);
}

// Closes the gaps from front to back.
size_t ListChunk::RemoveEqual(End from, std::string_view element, size_t most) {
  const size_t equal = CountOf(element);
  const size_t removed = std::min(equal, most);
  size_t spared = from == End::kFront ? 0 : equal - removed;  // equal elements to keep in front
  size_t left = removed;
  size_t kept_bytes = 0;
  for (size_t place = 0; place < bytes_ && removed > 0;) {
    const size_t here = std::exchange(place, PlaceAfter(place));
    const bool matches = left > 0 && ElementAt(here) == element;
    if (matches && spared == 0) {
      --left;
      continue;
    }
    if (matches) --spared;
    std::memmove(first() + kept_bytes, first() + here, place - here);
    kept_bytes += place - here;
  }
  if (removed > 0) Erase(kept_bytes, bytes_, removed);
  return removed;
}

size_t ListChunk::CountOf(std::string_view element) const {
  size_t count = 0;
  for (size_t place = 0; place < bytes_; place = PlaceAfter(place)) {
    if (ElementAt(place) == element) ++count;
  }
  return count;
}

ListChunk ListChunk::SplitOff(size_t place, size_t count) {
  assert(place <= bytes_ && count <= count_);
  ListChunk rest;
  if (count == 0) return rest;
  const size_t moved = bytes_ - place;
  std::memcpy(rest.OpenGap(End::kBack, 0, moved), first() + place, moved);
  rest.count_ = count;
  Erase(place, bytes_, count);
  return rest;
}

void ListChunk::Append(const ListChunk& next) {
  assert(empty() || bytes_ + next.bytes_ <= kFullBytes);
  if (next.empty()) return;
  std::memcpy(OpenGap(End::kBack, bytes_, next.bytes_), next.first(), next.bytes_);
  count_ += next.count_;
}

std::string_view ListChunk::ElementAt(size_t place) const {
  assert(place < bytes_);
  const Varint mark = ReadVarintForward(first() + place);
  return {first() + place + mark.bytes, mark.length};
}

size_t ListChunk::PlaceAfter(size_t place) const {
  assert(place < bytes_);
  const Varint mark = ReadVarintForward(first() + place);
  return place + mark.length + 2 * mark.bytes;
}

size_t ListChunk::PlaceBefore(size_t place) const {
  assert(0 < place && place <= bytes_);
  const Varint mark = ReadVarintBackward(first() + place);
  return place - mark.length - 2 * mark.bytes;
}

size_t ListChunk::PlaceOf(size_t index) const {
  assert(index <= count_);
  size_t place = 0;
  if (index <= count_ / 2) {
    for (; index > 0; --index) place = PlaceAfter(place);
    return place;
  }
  place = bytes_;
  for (size_t steps = count_ - index; steps > 0; --steps) place = PlaceBefore(place);
  return place;
}

size_t ListChunk::RoomAt(End end) const {
  return end == End::kFront ? front_room_ : capacity_ - front_room_ - bytes_;
}

// Moves the bytes between `place` and that end outward, which leaves a gap at `place`.
char* ListChunk::OpenGap(End end, size_t place, size_t gap) {
  MakeRoom(end, gap);
  if (end == End::kFront) {
    front_room_ -= gap;
    std::memmove(first(), first() + gap, place);
  } else {
    std::memmove(first() + place + gap, first() + place, bytes_ - place);
  }
  bytes_ += gap;
  return first() + place;
}

// A chunk's first element gets exact room. Later, a block without room at either end doubles, and
// this end gets all of the new room, so a chunk with pushes at one end only fills up. A block with
// room at the other end doubles too, but both ends share the room. If it is less than half full or
// cannot grow, both ends only share the existing room. So a byte is moved a few times at most.
void ListChunk::MakeRoom(End end, size_t room) {
  if (RoomAt(end) >= room) return;
  const size_t needed = bytes_ + room;
  const size_t wanted = bytes_ == 0 ? needed : needed > capacity_ ? 2 * bytes_ : 2 * needed;
  const size_t capacity =
      std::max({needed, capacity_, std::min(wanted, kFullBytes), kLeastCapacity});

  const End other = end == End::kFront ? End::kBack : End::kFront;
  const size_t left_there = std::min(RoomAt(other), (capacity - needed) / 2);
  MoveTo(capacity, end == End::kBack ? left_there : capacity - left_there - bytes_);
}

void ListChunk::MoveTo(size_t capacity, size_t front_room) {
  if (capacity == capacity_) {
    std::memmove(block_.get() + front_room, first(), bytes_);
  } else {
    auto block = std::make_unique_for_overwrite<char[]>(capacity);
    std::copy_n(first(), bytes_, block.get() + front_room);
    block_ = std::move(block);
    capacity_ = capacity;
  }
  front_room_ = front_room;
}

}  // namespace zsetd
