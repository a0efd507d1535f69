#include "server/cluster/topology/slot_set.h"

#include <gtest/gtest.h>

#include <bitset>
#include <utility>
#include <vector>

#include "core/util/rng.h"
#include "server/cluster/topology/topology.h"

namespace zsetd {
namespace {

using SlotModel = std::bitset<kSlotCount>;

// Runs of random lengths, so that whole bytes are full or empty.
std::pair<SlotSet, SlotModel> RandomSlots(Rng& rng) {
  SlotSet slots;
  SlotModel model;
  for (size_t slot = 0; slot < kSlotCount;) {
    const size_t end = slot + 1 + rng.Below(rng.Below(2) == 0 ? 3 : 500);
    const bool is_in_set = rng.Below(2) == 0;
    for (; slot < end && slot < kSlotCount; ++slot) {
      if (!is_in_set) continue;
      slots.Insert(slot);
      model.set(slot);
    }
  }
  return {slots, model};
}

TEST(SlotSetTest, HasTheRangesOfAModel) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Rng rng(seed);
    const auto [slots, model] = RandomSlots(rng);
    SlotModel covered;
    size_t next = 0;
    for (const SlotRange range : RangesOf(slots)) {
      EXPECT_GE(range.first, next) << "ranges touch; seed " << seed;
      for (size_t slot = range.first; slot <= range.last; ++slot) covered.set(slot);
      next = range.last + 2;
    }
    EXPECT_EQ(covered, model) << "seed " << seed;
  }
}

TEST(SlotSetTest, TheDifferenceHasTheSlotsOfOneSetOnly) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Rng rng(seed);
    const auto [first, first_model] = RandomSlots(rng);
    const auto [second, second_model] = RandomSlots(rng);
    const SlotSet rest = first - second;
    const SlotModel expected = first_model & ~second_model;
    EXPECT_EQ(rest.size(), expected.count());
    rest.ForEach([&](size_t slot) { EXPECT_TRUE(expected[slot]) << "seed " << seed; });
  }
}

}  // namespace
}  // namespace zsetd
