#include "core/sorted_set/sorted_set.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/sorted_set/sorted_set_builder.h"
#include "core/util/rng.h"
#include "tests/core/check_after_change.h"
#include "tests/core/sorted_set/sorted_set_model.h"
#include "tests/core/sorted_set/sorted_set_world.h"
#include "tests/support/steps.h"

namespace zsetd::sorted_set_test {
namespace {

using Kind = AddResult::Kind;
using Pair = SortedSetModel::Pair;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

SortedSet SetOf(const std::vector<Pair>& elements) {
  SortedSet set;
  for (const auto& [score, member] : elements) set.Set(member, score);
  return set;
}

TEST(SortedSet, OrdersByScoreThenByBytes) {
  const SortedSet set =
      SetOf({{2, "b"}, {1, "z"}, {2, "a"}, {2, "\xFF"}, {2, ""}, {-kInfinity, "m"}});
  const std::vector<Pair> expected = {{-kInfinity, "m"}, {1, "z"}, {2, ""},
                                      {2, "a"},          {2, "b"}, {2, "\xFF"}};
  EXPECT_EQ(ElementsOf(set), expected);
}

TEST(SortedSet, NegativeZeroIsStoredAsZero) {
  SortedSet set;
  EXPECT_EQ(set.Set("a", -0.0).kind, Kind::kAdded);
  EXPECT_FALSE(std::signbit(*set.Score("a")));
  EXPECT_EQ(set.Set("a", 0.0).kind, Kind::kUnchanged);
  set.Set("a", -1);
  const AddResult result = set.Add("a", 1, {.increment = true});
  EXPECT_EQ(result.kind, Kind::kUpdated);
  EXPECT_FALSE(std::signbit(result.score));
}

TEST(SortedSet, OppositeInfinitiesChangeNothing) {
  SortedSet set = SetOf({{kInfinity, "a"}});
  const uint32_t revision = set.revision();
  EXPECT_EQ(set.Add("a", -kInfinity, {.increment = true}).kind, Kind::kNotANumber);
  EXPECT_EQ(set.Score("a"), kInfinity);
  EXPECT_EQ(set.revision(), revision);
}

TEST(SortedSet, IncrementObeysGreaterAndLess) {
  SortedSet set = SetOf({{5, "a"}});
  EXPECT_EQ(set.Add("a", -1, {.only_greater = true, .increment = true}).kind, Kind::kRefused);
  EXPECT_EQ(set.Add("a", 0, {.only_less = true, .increment = true}).kind, Kind::kRefused);
  EXPECT_EQ(set.Add("a", 1, {.only_new = true, .increment = true}).kind, Kind::kRefused);
  EXPECT_EQ(set.Add("b", 1, {.only_existing = true, .increment = true}).kind, Kind::kRefused);
  EXPECT_EQ(set.Add("a", 1, {.only_greater = true, .increment = true}).score, 6);
  EXPECT_EQ(set.Add("b", 1, {.only_greater = true, .increment = true}).kind, Kind::kAdded);
}

TEST(SortedSet, CursorWalksBothWays) {
  const SortedSet set = SetOf({{1, "a"}, {2, "b"}, {3, "c"}});
  auto at = set.At(1);
  at.Next();
  EXPECT_EQ(at.element().member, "c");
  at.Previous();
  at.Previous();
  EXPECT_EQ(at.element().member, "a");
  at.Previous();
  EXPECT_FALSE(at.valid());
  EXPECT_FALSE(set.At(3).valid());
}

TEST(SortedSet, RemembersItsLongestMember) {
  SortedSet set = SetOf({{1, "abc"}, {2, "b"}});
  set.Remove("abc");
  set.Set("b", 3);
  EXPECT_EQ(set.longest_member(), 3u);
  EXPECT_EQ(set.Clone().longest_member(), 3u);
  set.Set(std::string(100'000, 'x'), 1);
  EXPECT_EQ(set.longest_member(), 65'535u);
}

TEST(SortedSet, NeverBecomesAListpackAgain) {
  constexpr SortedSetLimits kLimits = {.listpack_entries = 2, .listpack_value = 3};
  SortedSet set = SetOf({{1, "abc"}, {2, "b"}});
  set.Expect(2, 3, kLimits);
  EXPECT_EQ(set.encoding(), SortedSetEncoding::kListpack);
  set.Expect(2, 4, kLimits);
  EXPECT_EQ(set.encoding(), SortedSetEncoding::kSkiplist);
  set.Remove("abc");
  set.Expect(1, 1, kLimits);
  EXPECT_EQ(set.encoding(), SortedSetEncoding::kSkiplist);
  EXPECT_EQ(set.Clone().encoding(), SortedSetEncoding::kSkiplist);

  SortedSet many;
  many.Expect(3, 1, kLimits);
  EXPECT_EQ(many.encoding(), SortedSetEncoding::kSkiplist);
}

TEST(SortedSet, TheOnlyMemberMayBeLongWhenItsScoreChanges) {
  const std::string member(1'000, 'x');
  SortedSet set = SetOf({{1, member}});
  set.Set(member, 2);
  EXPECT_EQ(ElementsOf(set), (std::vector<Pair>{{2, member}}));
}

TEST(SortedSet, RemovingEverythingReleasesTheMemory) {
  SortedSet set;
  for (int i = 0; i < 5000; ++i) set.Set(std::string(40, 'x') + std::to_string(i), i % 7);
  const size_t full = set.BytesUsed();
  EXPECT_GT(full, 5000u);
  EXPECT_EQ(set.Remove(RankRange{0, 10000}), 5000u);
  EXPECT_TRUE(set.empty());
  EXPECT_LT(set.BytesUsed(), full / 2);
}

void ExpectSameRanges(const SortedSet& set, const SortedSetModel& model, World& world) {
  const ScoreRange range = world.Scores();
  const RankRange expected = model.RanksOf([&](const Pair& pair) {
    const bool above =
        range.min.exclusive ? pair.first > range.min.score : pair.first >= range.min.score;
    const bool below =
        range.max.exclusive ? pair.first < range.max.score : pair.first <= range.max.score;
    return above && below;
  });
  const RankRange found = set.Ranks(range);
  EXPECT_EQ(found.size(), expected.size());
  if (!found.empty()) {
    EXPECT_EQ(found.first, expected.first);
  }
}

std::string Written(const SortedSet::Cursor& at) {
  const std::string untouched = "????????";
  const size_t room = at.member_size() + SortedSet::Cursor::kTooMany;
  std::string text(room + untouched.size(), '?');
  at.WriteMember(text.data());
  EXPECT_EQ(text.substr(room), untouched);
  text.resize(at.member_size());
  return text;
}

void ExpectSame(const SortedSet& set, const SortedSetModel& model) {
  const std::vector<Pair> expected = model.Elements();
  ASSERT_EQ(ElementsOf(set), expected);
  auto at = set.At(expected.empty() ? 0 : expected.size() - 1);
  for (size_t rank = expected.size(); rank-- > 0; at.Previous()) {
    ASSERT_TRUE(at.valid());
    ASSERT_EQ(at.element().member, expected[rank].second);
    ASSERT_EQ(Written(at), expected[rank].second);
  }
  ASSERT_FALSE(at.valid());
}

void RunBesideModel(uint64_t seed, int steps) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  World world(seed);
  Rng& rng = world.rng();
  SortedSet set;
  SortedSetModel model;
  for (int step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
    const std::string member = world.Member();
    const uint32_t revision = set.revision();
    const std::vector<Pair> before = rng.Below(50) == 0 ? model.Elements() : std::vector<Pair>();
    switch (rng.Below(8)) {
      case 0:
        EXPECT_EQ(set.Remove(member), model.Remove(member));
        break;
      case 1:
        if (rng.Below(20) == 0) {
          const RankRange ranks = world.Ranks(model.size());
          EXPECT_EQ(set.Remove(ranks), model.Remove(ranks));
        }
        break;
      default: {
        const double score = world.Score();
        const AddRule rule = world.Rule();
        const AddResult result = set.Add(member, score, rule);
        const AddResult expected = model.Add(member, score, rule);
        ASSERT_EQ(result.kind, expected.kind);
        if (!result.IsRefused()) {
          EXPECT_EQ(result.score, expected.score);
        }
        EXPECT_EQ(set.revision() != revision, result.Changed());
      }
    }
    const std::string probe = world.Member();
    EXPECT_EQ(set.Score(probe), model.Score(probe));
    EXPECT_EQ(set.Rank(probe), model.Rank(probe));
    EXPECT_EQ(set.size(), model.size());
    ExpectSameRanges(set, model, world);
    if (step % 64 == 0) ExpectSame(set, model);
    CheckAfterChange(set, step);
  }
  ExpectSame(set, model);
  ExpectSame(set.Clone(), model);
  set.Check();
}

// A set, a model, and the deadlines that members have in it.
class DeadlineRun {
 public:
  // Some deadlines are up to 2^spread milliseconds away, the others very near.
  DeadlineRun(uint64_t seed, bool large, uint64_t spread)
      : world_(seed), large_(large), spread_(spread) {}

  void Run(int steps) {
    for (int step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
      Step();
      ExpectSameElement(Member());
      ExpectEarliest();
      ASSERT_EQ(set_.size(), model_.size());
      CheckAfterChange(set_, step);
      if (step % 64 == 0) ExpectAll(set_);
    }
    ExpectAll(set_);
    ExpectAll(set_.Clone());
    ExpectAll(Rebuilt());
    set_.Check();
  }

 private:
  std::string Member() {
    return large_ ? "m" + std::to_string(world_.rng().Below(3000)) : world_.Member();
  }

  Millis Deadline() {
    Rng& rng = world_.rng();
    return now_ + Millis(rng.Below(rng.Below(3) == 0 ? uint64_t{1} << spread_ : 500));
  }

  void Step() {
    Rng& rng = world_.rng();
    const std::string member = Member();
    switch (rng.Below(10)) {
      case 0:
        EXPECT_EQ(set_.Remove(member), model_.Remove(member));
        deadlines_.erase(member);
        break;
      case 1:
        now_ += Millis(rng.Below(60));
        RemoveDue(rng.Below(2) == 0 ? 10'000 : rng.Below(5));
        break;
      case 2:
      case 3:
        SetDeadline(member, Deadline());
        break;
      case 4:
        SetDeadline(member, std::nullopt);
        break;
      case 5:
        if (rng.Below(10) == 0) RemoveRange();
        break;
      default:
        Add(member);
    }
  }

  void Add(const std::string& member) {
    const double score = world_.Score();
    AddRule rule = world_.Rule();
    rule.keep_deadline = world_.rng().Below(4) == 0;
    const AddResult result = set_.Add(member, score, rule);
    ASSERT_EQ(result.kind, model_.Add(member, score, rule).kind);
    const bool keeps = rule.increment || rule.keep_deadline;
    if (result.kind <= Kind::kUnchanged && !keeps) deadlines_.erase(member);
  }

  void SetDeadline(const std::string& member, std::optional<Millis> deadline) {
    const uint32_t revision = set_.revision();
    const bool changes = model_.Score(member) && DeadlineOf(member) != deadline;
    EXPECT_EQ(set_.SetDeadline(member, deadline), changes);
    EXPECT_EQ(set_.revision() != revision, changes);
    if (!changes) return;
    deadlines_.erase(member);
    if (deadline) deadlines_[member] = *deadline;
  }

  void RemoveRange() {
    const RankRange ranks = world_.Ranks(model_.size());
    const std::vector<Pair> before = model_.Elements();
    EXPECT_EQ(set_.Remove(ranks), model_.Remove(ranks));
    for (const auto& [score, member] : before) {
      if (!model_.Score(member)) deadlines_.erase(member);
    }
  }

  void RemoveDue(size_t most) {
    std::vector<std::string> removed;
    set_.RemoveDue(now_, most, removed);
    EXPECT_LE(removed.size(), most);
    for (const std::string& member : removed) {
      EXPECT_LE(DeadlineOf(member), now_);
      EXPECT_TRUE(deadlines_.erase(member) == 1 && model_.Remove(member)) << member;
    }
    if (removed.size() == most) return;
    for (const auto& [member, deadline] : deadlines_) EXPECT_GT(deadline, now_) << member;
  }

  std::optional<Millis> DeadlineOf(const std::string& member) const {
    const auto found = deadlines_.find(member);
    return found == deadlines_.end() ? std::nullopt : std::optional(found->second);
  }

  void ExpectSameElement(const std::string& member) {
    ASSERT_EQ(set_.Score(member), model_.Score(member));
    ASSERT_EQ(set_.Rank(member), model_.Rank(member));
    ASSERT_EQ(set_.Deadline(member), DeadlineOf(member)) << member;
  }

  void ExpectEarliest() {
    std::optional<Millis> earliest;
    for (const auto& [member, deadline] : deadlines_) {
      if (!earliest || deadline < *earliest) earliest = deadline;
    }
    ASSERT_EQ(set_.EarliestDeadline(), earliest);
    ASSERT_EQ(set_.has_deadlines(), earliest.has_value());
  }

  void ExpectAll(const SortedSet& set) {
    ASSERT_EQ(ElementsOf(set), model_.Elements());
    for (auto at = set.At(0); at.valid(); at.Next()) {
      ASSERT_EQ(at.deadline(), DeadlineOf(std::string(at.member())));
    }
  }

  SortedSet Rebuilt() {
    SortedSetBuilder builder;
    for (const auto& [score, member] : model_.Elements()) {
      builder.Add(member, score, DeadlineOf(member));
    }
    return *builder.Build();
  }

  World world_;
  bool large_;
  uint64_t spread_;
  SortedSet set_;
  SortedSetModel model_;
  std::map<std::string, Millis> deadlines_;
  Millis now_{1'790'000'000'000};
};

TEST(SortedSet, MembersHaveTheDeadlinesOfTheModel) {
  constexpr uint64_t kSpreads[] = {27, 27, 45, 9, 9, 45};
  for (uint64_t seed = 1; seed <= std::size(kSpreads); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    DeadlineRun(seed, seed % 2 == 0, kSpreads[seed - 1]).Run(Steps(4000));
  }
}

// Returns the bytes in use in its blocks.
size_t UsedBytes(const SortedSet& set) {
  size_t bytes = 0;
  set.ForEachBlock([&](const Block& block) { bytes += block.used_bytes(); });
  return bytes;
}

TEST(SortedSet, WithoutDeadlinesItTakesNoMemoryForThem) {
  for (const int size : {30, 100, 5000}) {
    SortedSet set;
    for (int i = 0; i < size; ++i) set.Set("member" + std::to_string(i * 7919 % size), i % 100);
    const size_t before = UsedBytes(set);
    for (int i = 0; i < size; ++i) {
      set.SetDeadline("member" + std::to_string(i), Millis(1'790'000'000'000 + i * 1000));
    }
    EXPECT_GT(UsedBytes(set), before + size * 2);
    for (int i = 0; i < size; ++i) set.SetDeadline("member" + std::to_string(i), std::nullopt);
    EXPECT_FALSE(set.has_deadlines());
    EXPECT_EQ(UsedBytes(set), before);
  }
}

TEST(SortedSet, FarDeadlinesCountAsTheFurthest) {
  SortedSet set = SetOf({{1, "a"}, {2, "b"}});
  set.SetDeadline("a", Millis(-5));
  set.SetDeadline("b", Millis::max());
  EXPECT_EQ(set.Deadline("a"), Millis(1));
  EXPECT_EQ(set.Deadline("b"), Millis((int64_t{1} << 46) - 1));
}

TEST(SortedSet, CopyContainsOnlyTheRange) {
  World world(3);
  Rng& rng = world.rng();
  SortedSet set;
  for (int i = 0; i < 2000; ++i) set.Set(world.Member(), world.Score());
  const std::vector<Pair> all = ElementsOf(set);
  for (const size_t size : {size_t{0}, size_t{1}, size_t{100}, size_t{400}, all.size()}) {
    const size_t first = rng.Below(all.size() - size + 1);
    const SortedSet copy = set.Copy({first, first + size});
    ASSERT_EQ(ElementsOf(copy), std::vector<Pair>(all.begin() + first, all.begin() + first + size));
    for (const auto& [score, member] : ElementsOf(copy)) ASSERT_EQ(copy.Score(member), score);
  }
}

TEST(SortedSet, BehavesLikeTheModel) {
  for (uint64_t seed = 1; seed <= 4; ++seed) RunBesideModel(seed, Steps(5000));
}

TEST(SortedSet, RangesOfBytesAreThoseOfTheModel) {
  World world(7);
  SortedSet set;
  SortedSetModel model;
  for (int i = 0; i < 500; ++i) {
    const std::string member = world.Member();
    set.Set(member, 1);
    model.Add(member, 1, {});
  }
  using BoundKind = LexBound::Kind;
  for (int i = 0; i < 3000; ++i) {
    const std::string low = world.Member(), high = world.Member();
    const bool open_low = i % 2, open_high = i % 3 == 0;
    const LexRange range = {
        {i % 7 == 0 ? BoundKind::kLowest : BoundKind::kMember, low, open_low},
        {i % 5 == 0 ? BoundKind::kHighest : BoundKind::kMember, high, open_high}};
    const RankRange expected = model.RanksOf([&](const Pair& pair) {
      const std::string& member = pair.second;
      return (i % 7 == 0 || (open_low ? member > low : member >= low)) &&
             (i % 5 == 0 || (open_high ? member < high : member <= high));
    });
    const RankRange found = set.Ranks(range);
    ASSERT_EQ(found.size(), expected.size()) << low << " " << high;
    if (!found.empty()) {
      ASSERT_EQ(found.first, expected.first);
    }
  }
  EXPECT_EQ(set.Ranks(LexRange{{BoundKind::kHighest, {}, false}, {BoundKind::kHighest, {}, false}})
                .size(),
            0u);
  EXPECT_EQ(
      set.Ranks(LexRange{{BoundKind::kLowest, {}, false}, {BoundKind::kLowest, {}, false}}).size(),
      0u);
}

}  // namespace
}  // namespace zsetd::sorted_set_test
