#include "core/util/segmented_array.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "core/util/rng.h"

namespace zsetd::segmented_array_test {
namespace {

using Array = SegmentedArray<uint64_t>;

constexpr size_t kPerSegment = 4096 / sizeof(uint64_t);
constexpr size_t kSomeBytes = 64;

Array Of(size_t size) {
  Array array;
  for (size_t i = 0; i < size; ++i) array.Append(i);
  return array;
}

void ExpectSame(const Array& array, const std::vector<uint64_t>& model) {
  ASSERT_EQ(array.size(), model.size());
  for (size_t i = 0; i < model.size(); ++i) ASSERT_EQ(array[i], model[i]) << i;
}

TEST(SegmentedArray, GrowsAndShrinksLikeAVector) {
  Rng rng(1);
  Array array;
  std::vector<uint64_t> model;
  for (const size_t most : {3ul, 40ul, kPerSegment + 1, 3 * kPerSegment}) {
    for (int round = 0; round < 20; ++round) {
      for (const size_t size = rng.Below(most); model.size() != size;) {
        if (model.size() > size) {
          array.RemoveLast();
          model.pop_back();
        } else {
          array.Append(rng.Next());
          model.push_back(array[array.size() - 1]);
        }
      }
      ExpectSame(array, model);
    }
  }
}

TEST(SegmentedArray, HasMoreThanAListOfSegments) {
  const size_t size = (kPerSegment + 3) * kPerSegment;
  Array array = Of(size);
  for (size_t i = 0; i < size; i += 97) ASSERT_EQ(array[i], i);
  for (size_t left = size; left > kPerSegment; --left) array.RemoveLast();
  for (size_t i = 0; i < kPerSegment; ++i) ASSERT_EQ(array[i], i);
}

TEST(SegmentedArray, FewElementsTakeLittleMemory) {
  EXPECT_EQ(Array().BytesUsed(), 0u);
  EXPECT_LE(Of(1).BytesUsed(), kSomeBytes);
  for (const size_t size : {10ul, 100ul, kPerSegment}) {
    EXPECT_LE(Of(size).BytesUsed(), 2 * size * sizeof(uint64_t) + kSomeBytes) << size;
  }
  EXPECT_LE(Of(100 * kPerSegment).BytesUsed(), 101 * 4096 + 2 * 128 * sizeof(void*));
}

TEST(SegmentedArray, ReleasesUnusedSegments) {
  Array array = Of(5 * kPerSegment);
  while (array.size() > 3) array.RemoveLast();
  EXPECT_LE(array.BytesUsed(), 2 * kSomeBytes);
  while (array.size() > 0) array.RemoveLast();
  EXPECT_EQ(array.BytesUsed(), 0u);
}

}  // namespace
}  // namespace zsetd::segmented_array_test
