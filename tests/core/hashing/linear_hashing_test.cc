#include "core/hashing/linear_hashing.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace zsetd {
namespace {

constexpr size_t kMostBuckets = 70;
constexpr uint64_t kHashBits = 9;
constexpr uint64_t kHashes = 1 << kHashBits;  // 0 .. kHashes-1 stand for all hashes

LinearHashing Buckets(size_t count) {
  LinearHashing numbers;
  for (size_t i = 0; i < count; ++i) numbers.Add();
  return numbers;
}

uint64_t Backwards(uint64_t hash) {
  uint64_t reversed = 0;
  for (uint64_t bit = 0; bit < kHashBits; ++bit) reversed = reversed << 1 | (hash >> bit & 1);
  return reversed;
}

TEST(LinearHashing, EachBucketHasHashes) {
  for (size_t count = 1; count <= kMostBuckets; ++count) {
    std::set<size_t> used;
    for (uint64_t hash = 0; hash < kHashes; ++hash) used.insert(Buckets(count).NumberOf(hash));
    EXPECT_EQ(used.size(), count);
    EXPECT_EQ(*used.rbegin(), count - 1);
  }
}

TEST(LinearHashing, ANewBucketTakesHashesOnlyFromItsOrigin) {
  for (size_t count = 1; count < kMostBuckets; ++count) {
    const LinearHashing before = Buckets(count);
    const LinearHashing after = Buckets(count + 1);
    for (uint64_t hash = 0; hash < kHashes; ++hash) {
      if (after.NumberOf(hash) == before.NumberOf(hash)) continue;
      EXPECT_EQ(after.NumberOf(hash), count);
      EXPECT_EQ(before.NumberOf(hash), LinearHashing::OriginOf(count));
    }
  }
}

TEST(LinearHashing, ABucketHasAllHashesWithItsLowBits) {
  for (size_t count = 1; count <= kMostBuckets; ++count) {
    const LinearHashing numbers = Buckets(count);
    for (uint64_t hash = 0; hash < kHashes; ++hash) {
      for (size_t number = 0; number < count; ++number) {
        const uint64_t mask = (uint64_t{1} << numbers.DepthOf(number)) - 1;
        EXPECT_EQ(numbers.NumberOf(hash) == number, (hash & mask) == number);
      }
    }
  }
}

TEST(LinearHashing, RemovingUndoesAdding) {
  LinearHashing numbers = Buckets(kMostBuckets);
  for (size_t count = kMostBuckets; count > 1; --count) {
    EXPECT_EQ(numbers.NumberOf(kHashes - 1), Buckets(count).NumberOf(kHashes - 1));
    numbers.Remove();
  }
}

TEST(LinearHashing, AScanPassesEachBucketOnce) {
  for (size_t count = 1; count <= kMostBuckets; ++count) {
    const LinearHashing numbers = Buckets(count);
    std::multiset<size_t> passed;
    uint64_t cursor = 0;
    do {
      passed.insert(numbers.NumberOf(cursor));
      cursor = numbers.CursorAfter(cursor);
    } while (cursor != 0);
    EXPECT_EQ(passed.size(), count);
    EXPECT_EQ(std::set(passed.begin(), passed.end()).size(), count);
  }
}

// The guarantee that a scan relies on, for a cursor that comes from a table of any other size.
TEST(LinearHashing, ACursorSkipsNoHash) {
  for (size_t count = 1; count <= kMostBuckets; ++count) {
    const LinearHashing numbers = Buckets(count);
    for (uint64_t cursor = 0; cursor < 128; ++cursor) {
      const uint64_t next = numbers.CursorAfter(cursor);
      const uint64_t from = Backwards(cursor);
      const uint64_t to = next == 0 ? kHashes : Backwards(next);
      ASSERT_LT(from, to);
      for (uint64_t hash = 0; hash < kHashes; ++hash) {
        const bool passed_over = from <= Backwards(hash) && Backwards(hash) < to;
        if (!passed_over) continue;
        ASSERT_EQ(numbers.NumberOf(hash), numbers.NumberOf(cursor));
      }
    }
  }
}

}  // namespace
}  // namespace zsetd
