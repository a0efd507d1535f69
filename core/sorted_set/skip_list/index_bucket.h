#pragma once

#include <cstddef>
#include <cstdint>

#include "core/util/byte_scan.h"
#include "core/util/cache_line.h"
#include "core/util/packed_integer.h"

namespace zsetd {

// Some entries of the member index: an 8-bit tag, a block id and two more bits each, in no order,
// in one allocation.
//
//   header | t0 t1 t2 t3 t4 -->      free      <-- id4 b4.. | id3 id2 id1 id0 b3b2b1b0 | end
//
// Ids take two bytes until the bucket meets one that needs more; four of them share a byte for the
// bits. Equal entries are interchangeable.
class IndexBucket {
 public:
  struct Entry {
    uint32_t id = 0;
    uint8_t tag = 0;
    uint8_t bits = 0;  // two
  };

  static IndexBucket* Make(size_t room);                 // for that many entries, or some more
  static IndexBucket* Clone(const IndexBucket& bucket);  // with no room to spare
  static void Free(IndexBucket* bucket);

  IndexBucket(const IndexBucket&) = delete;
  IndexBucket& operator=(const IndexBucket&) = delete;

  size_t count() const { return count_; }
  size_t allocated_bytes() const { return bytes_; }
  uint8_t TagAt(size_t i) const { return tags()[i]; }
  uint32_t IdAt(size_t i) const {
    return static_cast<uint32_t>(LoadPacked(End() - IdPlace(i), id_width_));
  }
  uint8_t BitsAt(size_t i) const { return *(End() - BitsPlace(i)) >> 2 * (i % kGroup) & 3; }
  Entry At(size_t i) const { return {IdAt(i), TagAt(i), BitsAt(i)}; }

  // Prefetches all of it: the ids are at its end.
  void Prefetch() const { FetchLines(this, 3); }

  // Calls visit(i) for each entry of that tag until it returns true; then true.
  template <class Visit>
  bool FindTag(uint8_t tag, Visit visit) const {
    return FindByte(tags(), count_, tag, visit);
  }

  // How many entries before `i` have its tag and its id.
  size_t TwinsBefore(size_t i) const;

  // Both may move the bucket, and return it.
  static IndexBucket* Add(IndexBucket* bucket, const Entry& entry);
  static IndexBucket* SetId(IndexBucket* bucket, size_t i, uint32_t id);

  void SetBits(size_t i, uint8_t bits);

  // The last entry takes the place of entry `i`.
  void Remove(size_t i);

  // The bucket in the smallest allocation that holds it.
  static IndexBucket* Shrunk(IndexBucket* bucket);

 private:
  explicit IndexBucket(int id_width) : id_width_(id_width) {}
  static IndexBucket* Allocate(size_t capacity, int id_width);
  static IndexBucket* Copied(const IndexBucket& bucket, size_t capacity, int id_width);
  static IndexBucket* Moved(IndexBucket* bucket, size_t capacity, int id_width);

  // Returned as pointers, because the array is longer than the class declares.
  uint8_t* tags() { return tags_; }
  const uint8_t* tags() const { return tags_; }

  static constexpr size_t kGroup = 4;  // ids

  // Their distances from the end, and the bytes that `count` ids take.
  size_t BitsPlace(size_t i) const { return i / kGroup * (kGroup * id_width_ + 1) + 1; }
  size_t IdPlace(size_t i) const { return BitsPlace(i) + (i % kGroup + 1) * id_width_; }
  static size_t IdBytes(size_t count, int id_width) {
    return count * id_width + (count + kGroup - 1) / kGroup;
  }
  static size_t BytesFor(size_t count, int id_width);

  char* End() { return reinterpret_cast<char*>(this) + bytes_; }
  const char* End() const { return reinterpret_cast<const char*>(this) + bytes_; }
  void StoreId(size_t i, uint32_t id) { StorePacked(End() - IdPlace(i), id_width_, id); }

  // A well-seeded hash fills a bucket to some forty; 16 bits are beyond any chance.
  uint16_t count_ = 0;
  uint16_t bytes_ = 0;  // of the allocation
  uint8_t id_width_;
  uint8_t tags_[3];  // and on
};

}  // namespace zsetd
