// A row of blocks behaves like a std::deque, whatever the order of its operations.
#include "core/stream/block_row.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/util/rng.h"

namespace zsetd::block_row_test {
namespace {

using Row = BlockRow<std::unique_ptr<int>>;

std::vector<int> Contents(const Row& row) {
  std::vector<int> contents;
  for (const auto& owner : row) contents.push_back(*owner);
  return contents;
}

// Changes at the ends are most frequent, as in a stream.
size_t AnyPlace(size_t count, Rng& rng) {
  switch (rng.Below(4)) {
    case 0:
      return 0;
    case 1:
      return rng.Below(count);
    default:
      return count - 1;
  }
}

TEST(BlockRow, EqualsADequeAfterRandomChanges) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  Row row;
  std::deque<int> model;
  for (int step = 0; step < 20'000; ++step) {
    const bool grows = step / 500 % 2 == 0;
    if (model.empty() || rng.Below(10) < (grows ? 7 : 3)) {
      const size_t place = AnyPlace(model.size() + 1, rng);
      row.Insert(place, std::make_unique<int>(step));
      model.insert(model.begin() + static_cast<ptrdiff_t>(place), step);
    } else {
      const size_t place = rng.Below(2) * AnyPlace(model.size(), rng);
      row.Remove(place);
      model.erase(model.begin() + static_cast<ptrdiff_t>(place));
    }
    ASSERT_EQ(row.size(), model.size());
    if (!model.empty()) {
      ASSERT_EQ(*row.front(), model.front());
      ASSERT_EQ(*row.back(), model.back());
      const size_t place = rng.Below(model.size());
      ASSERT_EQ(*row[place], model[place]);
    }
    if (step % 50 == 0) {
      ASSERT_EQ(Contents(row), std::vector<int>(model.begin(), model.end()));
    }
  }
}

TEST(BlockRow, TakesLittleMemoryWhateverWasRemoved) {
  Row row;
  EXPECT_EQ(row.BytesUsed(), 0u);
  row.Append(std::make_unique<int>(0));
  EXPECT_EQ(row.BytesUsed(), 16u);
  for (int i = 1; i < 1'000; ++i) row.Append(std::make_unique<int>(i));
  for (int i = 0; i < 100'000; ++i) {
    row.Append(std::make_unique<int>(i));
    row.Remove(0);
    ASSERT_LE(row.BytesUsed(), 1'000 * sizeof(int*) * 4);
  }
  while (row.size() > 1) row.Remove(row.size() / 3);
  EXPECT_LE(row.BytesUsed(), 64u);
  row.Remove(0);
  EXPECT_EQ(row.BytesUsed(), 0u);
}

TEST(BlockRow, MovedFromIsEmpty) {
  Row row;
  for (int i = 0; i < 10; ++i) row.Append(std::make_unique<int>(i));
  row.Remove(0);
  const Row moved = std::move(row);
  EXPECT_TRUE(row.empty());
  EXPECT_EQ(moved.size(), 9u);
}

}  // namespace
}  // namespace zsetd::block_row_test
