#include "core/sorted_set/skip_list/index_bucket.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>
#include <new>

#include "core/util/allocation.h"

namespace zsetd {
namespace {

constexpr int kNarrowId = 2;
int WidthFor(uint32_t id) { return std::max(kNarrowId, PackedWidth(id)); }

}  // namespace

IndexBucket* IndexBucket::Make(size_t room) { return Allocate(room, kNarrowId); }

size_t IndexBucket::BytesFor(size_t count, int id_width) {
  return offsetof(IndexBucket, tags_) + count * sizeof(tags_[0]) + IdBytes(count, id_width);
}

IndexBucket* IndexBucket::Allocate(size_t capacity, int id_width) {
  const size_t wanted = BytesFor(capacity, id_width);
  void* memory = ::operator new(std::max(wanted, sizeof(IndexBucket) + sizeof(uint64_t)));
  IndexBucket* bucket = new (memory) IndexBucket(id_width);
  const size_t bytes = AllocatedBytes(memory);
  assert(bytes <= std::numeric_limits<uint16_t>::max());
  bucket->bytes_ = static_cast<uint16_t>(bytes);
  return bucket;
}

void IndexBucket::Free(IndexBucket* bucket) { ::operator delete(bucket); }

IndexBucket* IndexBucket::Copied(const IndexBucket& bucket, size_t capacity, int id_width) {
  assert(capacity >= bucket.count_ && id_width >= bucket.id_width_);
  IndexBucket* copy = Allocate(capacity, id_width);
  const size_t count = copy->count_ = bucket.count_;
  std::memmove(copy->tags(), bucket.tags(), count);
  if (id_width == bucket.id_width_) {
    const size_t bytes = IdBytes(count, id_width);
    std::memmove(copy->End() - bytes, bucket.End() - bytes, bytes);
  } else {
    for (size_t i = 0; i < count; ++i) {
      copy->StoreId(i, bucket.IdAt(i));
      copy->SetBits(i, bucket.BitsAt(i));
    }
  }
  return copy;
}

IndexBucket* IndexBucket::Moved(IndexBucket* bucket, size_t capacity, int id_width) {
  IndexBucket* moved = Copied(*bucket, capacity, id_width);
  Free(bucket);
  return moved;
}

IndexBucket* IndexBucket::Clone(const IndexBucket& bucket) {
  return Copied(bucket, bucket.count_, bucket.id_width_);
}

// The allocator's rounding is all the room it grows by: five entries or so.
IndexBucket* IndexBucket::Add(IndexBucket* bucket, const Entry& entry) {
  const int id_width = std::max<int>(bucket->id_width_, WidthFor(entry.id));
  const size_t count = bucket->count_ + 1;
  if (BytesFor(count, id_width) > bucket->bytes_ || id_width != bucket->id_width_) {
    bucket = Moved(bucket, count, id_width);
  }
  bucket->tags()[count - 1] = entry.tag;
  bucket->StoreId(count - 1, entry.id);
  bucket->SetBits(count - 1, entry.bits);
  bucket->count_ = count;
  return bucket;
}

IndexBucket* IndexBucket::SetId(IndexBucket* bucket, size_t i, uint32_t id) {
  assert(i < bucket->count_);
  if (WidthFor(id) > bucket->id_width_) bucket = Moved(bucket, bucket->count_, WidthFor(id));
  bucket->StoreId(i, id);
  return bucket;
}

void IndexBucket::SetBits(size_t i, uint8_t bits) {
  assert(bits < 4);
  char& byte = *(End() - BitsPlace(i));
  const int shift = 2 * (i % kGroup);
  byte = static_cast<char>((byte & ~(3 << shift)) | bits << shift);
}

size_t IndexBucket::TwinsBefore(size_t i) const {
  size_t twins = 0;
  FindTag(TagAt(i), [&](size_t other) {
    if (other < i && IdAt(other) == IdAt(i)) ++twins;
    return other >= i;
  });
  return twins;
}

void IndexBucket::Remove(size_t i) {
  assert(i < count_);
  --count_;
  tags()[i] = tags()[count_];
  StoreId(i, IdAt(count_));
  SetBits(i, BitsAt(count_));
}

IndexBucket* IndexBucket::Shrunk(IndexBucket* bucket) {
  return Moved(bucket, bucket->count_, bucket->id_width_);
}

}  // namespace zsetd
