#include "core/sorted_set/skip_list/block_deadlines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/util/rng.h"

namespace zsetd {
namespace {

TEST(BlockDeadlines, FindsTheEarliestDeadline) {
  for (const size_t ids : {1u, 16u, 17u, 300u, 5000u}) {
    SCOPED_TRACE(std::to_string(ids) + " ids");
    Rng rng(ids);
    BlockDeadlines deadlines;
    std::vector<uint64_t> model(ids, kNoDeadline);
    for (int step = 0; step < 3000; ++step) {
      const auto id = static_cast<uint32_t>(rng.Below(std::min<size_t>(ids, step / 2 + 1)));
      model[id] = rng.Below(3) == 0 ? kNoDeadline : 1 + rng.Below(1000);
      deadlines.Set(id, model[id]);
      const uint64_t earliest = *std::min_element(model.begin(), model.end());
      ASSERT_EQ(deadlines.Earliest(), earliest);
      if (earliest == kNoDeadline) continue;
      ASSERT_EQ(model[deadlines.EarliestBlock()], earliest);
      const auto other = static_cast<uint32_t>(rng.Below(ids));
      ASSERT_EQ(deadlines.Of(other), model[other]);
    }
  }
}

}  // namespace
}  // namespace zsetd
