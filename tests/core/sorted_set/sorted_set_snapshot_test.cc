// A snapshot of a set shows one instant, whatever changes the set receives.
#include "core/sorted_set/block/sorted_set_snapshot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/sorted_set/block/block_reader.h"
#include "core/sorted_set/sorted_set.h"
#include "core/util/rng.h"
#include "tests/support/steps.h"

namespace zsetd::sorted_set_snapshot_test {
namespace {

using Elements = std::vector<std::pair<std::string, double>>;  // from the last to the first

Elements ElementsSeenBy(const SortedSet& set) {
  Elements elements;
  if (set.empty()) return elements;
  for (auto at = set.At(set.size() - 1); at.valid(); at.Previous()) {
    elements.emplace_back(at.member(), at.score());
  }
  return elements;
}

void Step(SortedSetSnapshot& snapshot, Elements& elements) {
  const OwnedBlock block = snapshot.Take();
  BlockReader reader(*block, block->count() - 1);
  for (size_t left = block->count(); left > 0; --left) {
    elements.emplace_back(reader.member(), ScoreOf(reader.code()));
    if (left > 1) reader.Backward();
  }
}

// Changes of every kind: a block grows, is split, shrinks, is merged, is removed; runs are cut.
class Changes {
 public:
  explicit Changes(uint64_t seed) : rng_(seed) {}

  Rng& rng() { return rng_; }

  std::string Member() {
    const uint64_t n = rng_.Below(6000);
    return n % 50 == 0 ? std::string(300, 'L') + std::to_string(n) : "m" + std::to_string(n);
  }
  double Score() { return rng_.Below(4) == 0 ? 7 : double(rng_.Below(100'000)) / 8; }

  void Change(SortedSet& set) {
    switch (rng_.Below(40)) {
      case 0: {
        const size_t first = rng_.Below(set.size() + 1);
        set.Cut({first, std::min(set.size(), first + rng_.Below(5000))});
        return;
      }
      case 1:
        for (int i = 0; i < 3000; ++i) set.Set(Member(), Score());
        return;
      case 2: {  // elements in order, after the last one
        for (int i = 0; i < 300; ++i) set.Set("b" + std::to_string(i), 1e6 + i);
        return;
      }
      case 3: {
        const size_t first = rng_.Below(set.size() + 1);
        set.Remove({first, std::min(set.size(), first + rng_.Below(400))});
        return;
      }
      default:
        if (rng_.Below(2) == 0) {
          set.Set(Member(), Score());
        } else {
          set.Remove(Member());
        }
    }
  }

 private:
  Rng rng_;
};

TEST(SortedSetSnapshot, ContainsTheElementsOfItsInstantDespiteLaterChanges) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Changes changes(seed);
  Rng& rng = changes.rng();
  for (int round = 0; round < Steps(8); ++round) {
    SortedSet set;
    for (uint64_t left = 200 + rng.Below(8000); left > 0; --left) {
      set.Set(changes.Member(), changes.Score());
    }
    const Elements expected = ElementsSeenBy(set);
    std::unique_ptr<SortedSetSnapshot> snapshot = set.StartSnapshot();
    if (snapshot == nullptr) continue;
    EXPECT_EQ(snapshot->size(), expected.size());
    Elements shown;
    while (!snapshot->done()) {
      for (uint64_t left = rng.Below(30); left > 0; --left) changes.Change(set);
      if (rng.Below(100) == 0) set = SortedSet();
      if (rng.Below(100) == 0) {
        SortedSet moved = std::move(set);
        set = std::move(moved);
      }
      Step(*snapshot, shown);
    }
    ASSERT_EQ(shown, expected) << "round " << round;
    EXPECT_EQ(snapshot->copied_bytes(), 0u);
    snapshot.reset();
    set.Check();
    for (int i = 0; i < 100; ++i) changes.Change(set);
    set.Check();
  }
}

TEST(SortedSetSnapshot, MayEndEarlyAndBeTakenAgain) {
  SortedSet set;
  for (int i = 0; i < 2000; ++i) set.Set("m" + std::to_string(i), i);
  Elements shown;
  {
    const auto snapshot = set.StartSnapshot();
    Step(*snapshot, shown);
    for (int i = 0; i < 2000; i += 3) set.Remove("m" + std::to_string(i));
    EXPECT_GT(snapshot->copied_bytes(), 0u);
  }
  const Elements expected = ElementsSeenBy(set);
  const auto again = set.StartSnapshot();
  set.Cut({0, set.size()});
  shown.clear();
  while (!again->done()) Step(*again, shown);
  EXPECT_EQ(shown, expected);
}

TEST(SortedSetSnapshot, ARunThatIsCutOutIsKeptAndNotCopied) {
  SortedSet set;
  for (int i = 0; i < 100'000; ++i) set.Set("m" + std::to_string(i), i);
  const Elements expected = ElementsSeenBy(set);
  const auto snapshot = set.StartSnapshot();
  set.Cut({1000, 99'000});
  EXPECT_LT(snapshot->copied_bytes(), 20'000u);  // only the blocks at the ends of the run
  Elements shown;
  while (!snapshot->done()) Step(*snapshot, shown);
  EXPECT_EQ(shown, expected);
}

TEST(SortedSetSnapshot, ACloneHasNone) {
  SortedSet set;
  for (int i = 0; i < 2000; ++i) set.Set("m" + std::to_string(i), i);
  const auto snapshot = set.StartSnapshot();
  SortedSet clone = set.Clone();
  for (int i = 0; i < 2000; i += 2) clone.Remove("m" + std::to_string(i));
  EXPECT_EQ(snapshot->copied_bytes(), 0u);
  EXPECT_NE(clone.StartSnapshot(), nullptr);
}

TEST(SortedSetSnapshot, ASmallSetIsWrittenWhole) {
  SortedSet set;
  set.Set("a", 1);
  EXPECT_EQ(set.StartSnapshot(), nullptr);
}

}  // namespace
}  // namespace zsetd::sorted_set_snapshot_test
