#include "core/sorted_set/sorted_set_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/util/rng.h"
#include "tests/core/sorted_set/sorted_set_model.h"
#include "tests/core/sorted_set/sorted_set_world.h"

namespace zsetd::sorted_set_builder_test {
namespace {

using Pair = SortedSetModel::Pair;
using Elements = std::vector<Pair>;

// Elements of one style each, with different members.
Elements Make(int style, size_t count, Rng& rng) {
  Elements elements;
  for (size_t n = 0; n < count; ++n) {
    switch (style) {
      case 0:  // scattered scores, members that have nothing in common
        elements.emplace_back(double(rng.Next()), std::to_string(rng.Next()) + char(n));
        break;
      case 1:  // one score, so that the order is that of the members
        elements.emplace_back(1, std::string(n % 30, 'x') + std::to_string(n));
        break;
      case 2:  // padded numerals and times
        elements.emplace_back(1.79e9 + double(n), "member:" + std::to_string(100'000'000 + n));
        break;
      case 3:  // few scores, some members of many bytes, an empty one
        elements.emplace_back(
            double(n % 3),
            n == 0 ? "" : std::string(n % 400, 'l') + char(n % 251) + std::to_string(n));
        break;
      default:  // members that nearly fill a block by twenty
        elements.emplace_back(-double(n), std::string(200, char('a' + n % 7)) + std::to_string(n));
    }
  }
  std::sort(elements.begin(), elements.end());
  return elements;
}
constexpr int kStyles = 5;

std::optional<SortedSet> Build(const Elements& elements) {
  SortedSetBuilder builder;
  for (const auto& [score, member] : elements) builder.Add(member, score);
  EXPECT_EQ(builder.size(), elements.size());
  return builder.Build();
}

void ExpectIs(const SortedSet& set, const Elements& sorted) {
  set.Check();
  ASSERT_EQ(set.size(), sorted.size());
  ASSERT_EQ(ElementsOf(set), sorted);
  for (size_t rank = 0; rank < sorted.size(); ++rank) {
    ASSERT_EQ(set.Rank(sorted[rank].second), rank);
  }
  EXPECT_FALSE(set.Score("no such member"));
}

TEST(SortedSetBuilder, TakesElementsInAnyOrder) {
  Rng rng(1);
  for (int style = 0; style < kStyles; ++style) {
    for (const size_t size : {0, 1, 2, 100, 159, 160, 161, 1000, 20'000}) {
      SCOPED_TRACE("style " + std::to_string(style) + " size " + std::to_string(size));
      const Elements sorted = Make(style, size, rng);
      Elements given = sorted;
      ExpectIs(*Build(given), sorted);
      std::reverse(given.begin(), given.end());
      ExpectIs(*Build(given), sorted);
      for (size_t i = given.size(); i > 1; --i) std::swap(given[rng.Below(i)], given[i - 1]);
      ExpectIs(*Build(given), sorted);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(SortedSetBuilder, TakesOneElementThatIsOutOfOrder) {
  Rng rng(3);
  for (int style = 0; style < kStyles; ++style) {
    for (const size_t size : {3, 161, 162, 1000, 5000}) {
      for (int round = 0; round < 6; ++round) {
        SCOPED_TRACE("style " + std::to_string(style) + " size " + std::to_string(size));
        const Elements sorted = Make(style, size, rng);
        Elements given = sorted;
        if (round % 2 == 0) std::reverse(given.begin(), given.end());
        const auto from = given.begin() + rng.Below(size);
        const Pair moved = *from;
        given.erase(from);
        given.insert(given.begin() + rng.Below(size), moved);
        ExpectIs(*Build(given), sorted);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(SortedSetBuilder, NegativeZeroIsStoredAsZero) {
  SortedSetBuilder builder;
  builder.Add("b", 0.0);
  builder.Add("c", -1);
  builder.Add("a", -0.0);
  EXPECT_EQ(ElementsOf(*builder.Build()), (Elements{{-1, "c"}, {0, "a"}, {0, "b"}}));
}

TEST(SortedSetBuilder, RefusesADuplicateMember) {
  Rng rng(2);
  for (int style = 0; style < kStyles; ++style) {
    for (const size_t size : {1, 2, 100, 160, 161, 1000, 5000}) {
      for (int round = 0; round < 10; ++round) {
        Elements elements = Make(style, size, rng);
        const Pair& repeated = elements[rng.Below(size)];
        const double score = rng.Below(2) == 0 ? repeated.first : double(rng.Below(10'000));
        elements.emplace(elements.begin() + rng.Below(size + 1), score, repeated.second);
        ASSERT_FALSE(Build(elements)) << "style " << style << " size " << size;
      }
    }
  }
}

// A change after a build meets full blocks, full nodes and buckets that no insertion has filled.
TEST(SortedSetBuilder, BuiltSetChangesLikeTheModel) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed);
    Rng& rng = world.rng();
    SortedSetModel model;
    for (const auto& [score, member] : Make(int(seed), 3000, rng)) model.Add(member, score, {});
    SortedSet set = *Build(model.Elements());
    for (int step = 0; step < 6000 && !HasFailure(); ++step) {
      const bool is_old = rng.Below(2) == 0 && !set.empty();
      const std::string member =
          is_old ? std::string(set.At(rng.Below(set.size())).element().member) : world.Member();
      switch (rng.Below(8)) {
        case 0:
        case 1:
        case 2:
          ASSERT_EQ(set.Remove(member), model.Remove(member));
          break;
        case 3:
          if (rng.Below(100) > 0) break;
          {
            const RankRange ranks = world.Ranks(model.size());
            ASSERT_EQ(set.Remove(ranks), model.Remove(ranks));
          }
          break;
        default: {
          const double score = world.Score();
          ASSERT_EQ(set.Add(member, score, {}).kind, model.Add(member, score, {}).kind);
        }
      }
      ASSERT_EQ(set.Score(member), model.Score(member));
      if (step % 1000 == 0) {
        set.Check();
        ASSERT_EQ(ElementsOf(set), model.Elements());
      }
    }
    set.Check();
    ASSERT_EQ(ElementsOf(set), model.Elements());
  }
}

// At any time: while the index still lacks moves, while it is swept, and with LargeMembers.
TEST(SortedSetClone, IsTheSameSetAndIndependent) {
  for (int style = 0; style < kStyles; ++style) {
    SCOPED_TRACE("style " + std::to_string(style));
    Rng rng(10 + style);
    SortedSet set;
    Elements elements = Make(style, 12'000, rng);
    for (size_t i = elements.size(); i > 1; --i) std::swap(elements[rng.Below(i)], elements[i - 1]);
    for (size_t n = 0; n < elements.size(); ++n) {
      set.Set(elements[n].second, elements[n].first);
      if (n % 997 != 0 && n != 4000) continue;
      if (n == 4000) set.Remove(RankRange{100, 3500});
      SortedSet clone = set.Clone();
      const Elements expected = ElementsOf(set);
      ExpectIs(clone, expected);
      for (size_t i = 0; i < 50; ++i) {
        clone.Remove(elements[rng.Below(n + 1)].second);
        clone.Set("new" + std::to_string(i), double(rng.Below(10'000)));
      }
      clone.Check();
      clone.Remove(RankRange{0, clone.size()});
      ASSERT_EQ(ElementsOf(set), expected);
    }
    set.Check();
    const SortedSet clone = set.Clone();
    set = SortedSet();
    clone.Check();
  }
}

TEST(SortedSetBuilder, PacksBlocksFull) {
  Rng rng(3);
  Elements elements;
  for (int n = 0; n < 50'000; ++n) {
    std::string member;
    while (member.size() < 20) member += char(rng.Next());
    elements.emplace_back(double(rng.Next()), member);
  }
  const SortedSet built = *Build(elements);
  size_t blocks = 0, bytes = 0;
  built.ForEachBlock([&](const Block& block) {
    ++blocks;
    bytes += block.used_bytes();
  });
  EXPECT_GE(bytes, blocks * Block::kMaxBytes * 97 / 100);

  SortedSet grown;
  for (const auto& [score, member] : elements) grown.Set(member, score);
  EXPECT_LT(built.BytesUsed(), grown.BytesUsed());
}

}  // namespace
}  // namespace zsetd::sorted_set_builder_test
