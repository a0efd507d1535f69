#include "core/list/list_chunk.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "core/util/rng.h"

namespace zsetd::list_chunk_test {
namespace {

using End = ListChunk::End;
using Model = std::deque<std::string>;

Model Forward(const ListChunk& chunk) {
  Model elements;
  for (size_t place = 0; place < chunk.bytes(); place = chunk.PlaceAfter(place)) {
    elements.emplace_back(chunk.ElementAt(place));
  }
  return elements;
}

Model Backward(const ListChunk& chunk) {
  Model elements;
  for (size_t place = chunk.bytes(); place > 0;) {
    place = chunk.PlaceBefore(place);
    elements.emplace_front(chunk.ElementAt(place));
  }
  return elements;
}

void ExpectHolds(const ListChunk& chunk, const Model& model) {
  ASSERT_EQ(Forward(chunk), model);
  ASSERT_EQ(Backward(chunk), model);
  ASSERT_EQ(chunk.count(), model.size());
  size_t bytes = 0;
  for (const std::string& element : model) bytes += ListChunk::PackedBytes(element);
  ASSERT_EQ(chunk.bytes(), bytes);
}

ListChunk ChunkOf(const Model& elements) {
  ListChunk chunk;
  for (const std::string& element : elements) chunk.Push(End::kBack, element);
  return chunk;
}

// Lengths around those at which a mark of one byte no longer suffices, most of them small.
std::string AnyElement(Rng& rng) {
  const size_t length = rng.Below(20) == 0 ? 120 + rng.Below(20) : rng.Below(12);
  return std::string(length, static_cast<char>(rng.Next()));
}

TEST(ListChunk, ElementCostsItsBytesAndTwoMarks) {
  EXPECT_EQ(ListChunk::PackedBytes(""), 2u);
  EXPECT_EQ(ListChunk::PackedBytes(std::string(127, 'x')), 129u);
  EXPECT_EQ(ListChunk::PackedBytes(std::string(128, 'x')), 132u);
}

TEST(ListChunk, BehavesLikeADeque) {
  const uint64_t seed = 42;
  SCOPED_TRACE(seed);
  Rng rng(seed);
  ListChunk chunk;
  Model model;
  for (int step = 0; step < 20'000; ++step) {
    const bool growing = step / 500 % 2 == 0;
    const size_t index = rng.Below(model.size() + 1);
    if (rng.Below(10) < (growing ? 7 : 4)) {
      const std::string element = AnyElement(rng);
      if (!chunk.Takes(element)) continue;
      const uint64_t where = rng.Below(3);
      if (where == 0) chunk.Push(End::kFront, element), model.push_front(element);
      if (where == 1) chunk.Push(End::kBack, element), model.push_back(element);
      if (where == 2) {
        chunk.Insert(chunk.PlaceOf(index), element);
        model.insert(model.begin() + index, element);
      }
    } else {
      const size_t count = rng.Below(std::min<size_t>(model.size() - index, 3) + 1);
      chunk.Erase(chunk.PlaceOf(index), chunk.PlaceOf(index + count), count);
      model.erase(model.begin() + index, model.begin() + index + count);
    }
    ASSERT_NO_FATAL_FAILURE(ExpectHolds(chunk, model));
  }
}

TEST(ListChunk, SplitsAndJoinsAnywhere) {
  const Model model = {"a", "", std::string(200, 'b'), "c", "d"};
  for (size_t index = 0; index <= model.size(); ++index) {
    ListChunk chunk = ChunkOf(model);
    const ListChunk rest = chunk.SplitOff(chunk.PlaceOf(index), model.size() - index);
    ExpectHolds(chunk, Model(model.begin(), model.begin() + index));
    ExpectHolds(rest, Model(model.begin() + index, model.end()));
    chunk.Append(rest);
    ExpectHolds(chunk, model);
  }
}

TEST(ListChunk, CloneIsItsOwn) {
  ListChunk chunk = ChunkOf({"a", "b"});
  ListChunk copy = chunk.Clone();
  copy.Push(End::kBack, "c");
  ExpectHolds(chunk, {"a", "b"});
  ExpectHolds(copy, {"a", "b", "c"});
}

TEST(ListChunk, LargeElementHasItsOwnChunk) {
  ListChunk chunk;
  const std::string large(100'000, 'x');
  ASSERT_TRUE(chunk.Takes(large));
  chunk.Push(End::kFront, large);
  ExpectHolds(chunk, {large});
  EXPECT_LE(chunk.BytesUsed(), 101'000u);
  EXPECT_FALSE(chunk.Takes(""));
}

TEST(ListChunk, FillsUpFromEitherEnd) {
  for (End end : {End::kFront, End::kBack}) {
    ListChunk chunk;
    const std::string element(10, 'x');
    while (chunk.TakesAt(end, element)) chunk.Push(end, element);
    EXPECT_EQ(chunk.count(), ListChunk::kFullBytes / 12);
  }
}

// Otherwise every push would move a queue that fits one chunk.
TEST(ListChunk, FullerThanHalfRefusesTheEndWithoutRoom) {
  ListChunk chunk;
  const std::string element(100, 'x');
  while (chunk.TakesAt(End::kBack, element)) chunk.Push(End::kBack, element);
  for (int i = 0; i < 10; ++i) chunk.Erase(0, chunk.PlaceAfter(0), 1);
  EXPECT_TRUE(chunk.Takes(element));
  EXPECT_FALSE(chunk.TakesAt(End::kBack, element));
  EXPECT_TRUE(chunk.TakesAt(End::kFront, element));
  for (int i = 0; i < 40; ++i) chunk.Erase(0, chunk.PlaceAfter(0), 1);
  EXPECT_TRUE(chunk.TakesAt(End::kBack, element));
}

TEST(ListChunk, MemoryFollowsContents) {
  ListChunk chunk = ChunkOf({"hello"});
  EXPECT_LE(chunk.BytesUsed(), 32u);
  for (int i = 0; i < 500; ++i) chunk.Push(i % 2 == 0 ? End::kBack : End::kFront, "0123456789");
  EXPECT_LE(chunk.BytesUsed(), 3 * chunk.bytes());
  while (chunk.count() > 1) chunk.Erase(0, chunk.PlaceAfter(0), 1);
  EXPECT_LE(chunk.BytesUsed(), 48u);
}

}  // namespace
}  // namespace zsetd::list_chunk_test
