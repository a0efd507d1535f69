#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/sorted_set/sorted_set.h"
#include "core/util/rng.h"

namespace zsetd::sorted_set_scan_test {
namespace {

std::string Member(uint64_t number) { return "member:" + std::to_string(number); }

// A set, its model, and a scan of it that is interleaved with changes.
class ScannedSet {
 public:
  explicit ScannedSet(uint64_t seed) : rng_(seed) {}

  Rng& rng() { return rng_; }
  size_t size() const { return scores_.size(); }
  bool scanning() const { return cursor_.has_value(); }

  void Add(uint64_t number) {
    const double score = double(rng_.Below(1000));
    set_.Set(Member(number), score);
    scores_[Member(number)] = score;
  }

  void Remove(uint64_t number) {
    set_.Remove(Member(number));
    Forget(Member(number));
  }

  void RemoveRange(size_t size) {
    const size_t first = rng_.Below(set_.size() - size + 1);
    for (size_t rank = first; rank < first + size; ++rank) {
      Forget(std::string(set_.At(rank).element().member));
    }
    set_.Cut({first, first + size});
  }

  void StartScan() {
    cursor_ = 0;
    missing_.clear();
    for (const auto& [member, score] : scores_) missing_.insert(member);
  }

  // At the end no element may be missing.
  void Step() {
    cursor_ = set_.Scan(*cursor_, [&](const Element& element) {
      const auto held = scores_.find(std::string(element.member));
      ASSERT_NE(held, scores_.end()) << element.member;
      ASSERT_EQ(element.score, held->second);
      missing_.erase(held->first);
    });
    if (*cursor_ != 0) return;
    cursor_.reset();
    ASSERT_TRUE(missing_.empty()) << missing_.size() << ", " << *missing_.begin();
  }

 private:
  void Forget(const std::string& member) {
    scores_.erase(member);
    missing_.erase(member);
  }

  Rng rng_;
  SortedSet set_;
  std::map<std::string, double> scores_;
  std::optional<uint64_t> cursor_;
  std::set<std::string> missing_;  // present since the scan began, and not visited yet
};

// Grows and shrinks in turn, at times to nothing or to a single block.
void Change(ScannedSet& set, bool grows) {
  Rng& rng = set.rng();
  for (uint64_t i = rng.Below(grows ? 200 : 40); i > 0; --i) set.Add(rng.Below(8000));
  for (uint64_t i = rng.Below(grows ? 40 : 200); i > 0; --i) set.Remove(rng.Below(8000));
  if (!grows && rng.Below(8) == 0) set.RemoveRange(rng.Below(set.size() + 1));
  if (rng.Below(100) == 0) set.RemoveRange(set.size());
}

TEST(SortedSetScan, VisitsEveryElementThatStaysAndNoOthers) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ScannedSet set(seed);
    int scans = 0;
    for (int step = 0; step < 1800 && !testing::Test::HasFatalFailure(); ++step) {
      if (step % 3 == 0) Change(set, step / 300 % 2 == 0);
      if (!set.scanning()) set.StartScan(), ++scans;
      set.Step();
    }
    EXPECT_GT(scans, 10);
  }
}

// Elements that are cut out together leave entries in the index for a while.
TEST(SortedSetScan, SkipsElementsThatWereCutOut) {
  ScannedSet set(1);
  for (uint64_t number = 0; number < 50000; ++number) set.Add(number);
  set.StartScan();
  for (int i = 0; i < 10; ++i) set.Step();
  set.RemoveRange(45000);
  while (set.scanning()) set.Step();
  for (int i = 0; i < 2000; ++i) set.Add(100000 + i);  // ids are reused
  set.StartScan();
  while (set.scanning()) set.Step();
}

TEST(SortedSetScan, SmallSetIsReturnedInOneCall) {
  ScannedSet set(1);
  for (uint64_t number = 0; number < 100; ++number) set.Add(number);
  set.StartScan();
  set.Step();
  EXPECT_FALSE(set.scanning());
}

TEST(SortedSetScan, EachElementOfAnUnchangedSetIsReturnedOnce) {
  SortedSet set;
  for (uint64_t number = 0; number < 30000; ++number) set.Set(Member(number), double(number));
  std::map<std::string, int> times;
  uint64_t cursor = 0;
  do {
    cursor =
        set.Scan(cursor, [&](const Element& element) { ++times[std::string(element.member)]; });
  } while (cursor != 0);
  EXPECT_EQ(times.size(), 30000u);
  EXPECT_TRUE(std::ranges::all_of(times, [](const auto& each) { return each.second == 1; }));
}

}  // namespace
}  // namespace zsetd::sorted_set_scan_test
