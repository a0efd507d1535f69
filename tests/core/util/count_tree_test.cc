#include "core/util/count_tree.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "core/util/rng.h"

namespace zsetd {
namespace {

constexpr size_t kSize = 64;

TEST(CountTree, BehavesLikeAnArrayOfCounts) {
  const uint64_t seed = 11;
  SCOPED_TRACE(seed);
  Rng rng(seed);
  CountTree<kSize> tree;
  std::array<uint64_t, kSize> counts{};
  EXPECT_EQ(tree.PositionOf(0), kSize);
  for (int step = 0; step < 2'000; ++step) {
    const size_t position = rng.Below(kSize);
    const bool removes = counts[position] > 0 && rng.Below(2) == 0;
    counts[position] += removes ? -1 : 1;
    tree.Add(position, removes ? -1 : 1);
    const size_t end = rng.Below(kSize + 1);
    ASSERT_EQ(tree.Before(end), std::accumulate(&counts[0], &counts[0] + end, uint64_t{0}));
    ASSERT_EQ(tree.total(), tree.Before(kSize));
    uint64_t object = 0;
    for (size_t at = 0; at < kSize; ++at) {
      for (uint64_t i = 0; i < counts[at]; ++i) ASSERT_EQ(tree.PositionOf(object++), at);
    }
    ASSERT_EQ(tree.PositionOf(object), kSize);
  }
}

}  // namespace
}  // namespace zsetd
