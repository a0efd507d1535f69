#include "core/index_bucket.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>
#include <new>

#include "core/allocation.h"

namespace zsetd {
namespace {

constexpr int kNarrowId = 2;
constexpr size_t kGrowth = 4;  // entries; the allocator's rounding adds to it

int WidthFor(uint32_t id) { return std::max(kNarrowId, PackedWidth(id)); }

}  // namespace

IndexBucket* IndexBucket::Make(size_t room) { return Allocate(room, kNarrowId); }

IndexBucket* IndexBucket::Allocate(size_t capacity, int id_width) {
  const size_t wanted = offsetof(IndexBucket, tags_) + capacity * (sizeof(tags_[0]) + id_width);
  void* memory = ::operator new(std::max(wanted, sizeof(IndexBucket) + sizeof(uint64_t)));
  IndexBucket* bucket = new (memory) IndexBucket(id_width);
  const size_t bytes = AllocatedBytes(memory);
  assert(bytes <= std::numeric_limits<uint16_t>::max());
  bucket->bytes_ = static_cast<uint16_t>(bytes);
  return bucket;
}

void IndexBucket::Free(IndexBucket* bucket) { ::operator delete(bucket); }

IndexBucket* IndexBucket::Copied(IndexBucket* bucket, size_t capacity, int id_width) {
  IndexBucket* copy = Allocate(capacity, id_width);
  const size_t count = copy->count_ = bucket->count_;
  std::memmove(copy->tags_, bucket->tags_, count);
  if (id_width == bucket->id_width_) {
    std::memmove(copy->End() - count * id_width, bucket->End() - count * id_width,
                 count * id_width);
  } else {
    for (size_t i = 0; i < count; ++i) copy->StoreId(i, bucket->IdAt(i));
  }
  Free(bucket);
  return copy;
}

IndexBucket* IndexBucket::Add(IndexBucket* bucket, uint8_t tag, uint32_t id) {
  const int id_width = std::max<int>(bucket->id_width_, WidthFor(id));
  if (bucket->count_ == bucket->capacity() || id_width != bucket->id_width_) {
    bucket = Copied(bucket, bucket->count_ + kGrowth, id_width);
  }
  bucket->tags_[bucket->count_] = tag;
  bucket->StoreId(bucket->count_, id);
  ++bucket->count_;
  return bucket;
}

IndexBucket* IndexBucket::SetId(IndexBucket* bucket, size_t i, uint32_t id) {
  if (WidthFor(id) > bucket->id_width_) bucket = Copied(bucket, bucket->capacity(), WidthFor(id));
  bucket->StoreId(i, id);
  return bucket;
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
  --count_;
  tags_[i] = tags_[count_];
  StoreId(i, IdAt(count_));
}

IndexBucket* IndexBucket::Shrunk(IndexBucket* bucket) {
  return Copied(bucket, bucket->count_, bucket->id_width_);
}

}  // namespace zsetd
