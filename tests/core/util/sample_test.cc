#include "core/util/sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace zsetd {
namespace {

TEST(Sample, NumbersAreInOrderAndDifferent) {
  Rng rng(1);
  for (size_t below = 0; below < 40; ++below) {
    for (size_t count = 0; count <= below; ++count) {
      const std::vector<size_t> numbers = DistinctNumbers(count, below, rng);
      ASSERT_EQ(numbers.size(), count);
      ASSERT_TRUE(std::ranges::is_sorted(numbers));
      ASSERT_EQ(std::ranges::adjacent_find(numbers), numbers.end());
      ASSERT_TRUE(numbers.empty() || numbers.back() < below);
    }
  }
}

// Each of the ten pairs of five numbers has a share of a tenth: 5 standard deviations are 0.015.
TEST(Sample, EachChoiceIsEquallyLikely) {
  constexpr int kTimes = 10000;
  Rng rng(2);
  std::map<std::vector<size_t>, int> seen;
  for (int i = 0; i < kTimes; ++i) ++seen[DistinctNumbers(2, 5, rng)];
  EXPECT_EQ(seen.size(), 10u);
  for (const auto& [pair, times] : seen) EXPECT_NEAR(times / double{kTimes}, 0.1, 0.015);
}

}  // namespace
}  // namespace zsetd
