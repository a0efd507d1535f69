#include "core/sorted_set/skip_list/block_skip_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/sorted_set/block/block_packing.h"
#include "core/sorted_set/block/score_encoding.h"
#include "core/util/rng.h"
#include "tests/support/steps.h"

namespace zsetd::block_skip_list_test {
namespace {

using Key = std::pair<uint64_t, std::string>;

// A list and its model; each call changes both.
class Pair {
 public:
  explicit Pair(const Key& first) : list_(FirstBlock(first)) { Note(first); }

  size_t size() const { return codes_.size(); }
  const BlockSkipList& list() const { return list_; }

  void Set(const Key& key) {
    const auto place = list_.Find(key.second);
    if (place && size() == 1) return;
    ASSERT_EQ(bool(place), codes_.contains(key.second));
    if (!place) {
      list_.Insert({key.first, key.second, MakeLarge(key.second)});
    } else if (codes_[key.second] != key.first) {
      list_.Move(place, list_.SpotFor(key.first, key.second), key.second);
      keys_.erase({codes_[key.second], key.second});
    }
    Note(key);
  }

  void Erase(const std::string& member) {
    const auto place = list_.Find(member);
    ASSERT_EQ(bool(place), codes_.contains(member));
    if (!place || size() == 1) return;
    list_.Erase(place, member);
    keys_.erase({codes_[member], member});
    codes_.erase(member);
  }

  void Erase(RankRange ranks) {
    ranks.last = std::min(ranks.last, size());
    if (ranks.empty() || ranks.size() == size()) return;
    list_.Erase(ranks);
    const auto first = std::next(keys_.begin(), ranks.first);
    const auto last = std::next(first, ranks.size());
    for (auto at = first; at != last; ++at) codes_.erase(at->second);
    keys_.erase(first, last);
  }

  // Everything in order, each found by member and by rank.
  void ExpectSame() const {
    list_.Check();
    ASSERT_EQ(list_.size(), size());
    MemberBuffer buffer;
    auto place = list_.At(0);
    for (const auto& [code, member] : keys_) {
      ASSERT_NE(place.block, nullptr);
      ASSERT_EQ(place.block->CodeAt(place.index), code);
      ASSERT_EQ(place.block->MemberAt(place.index, buffer), member);
      if (++place.index == place.block->count()) place = {list_.Next(*place.block), 0};
    }
    ASSERT_EQ(place.block, nullptr);
  }

  // Each occurs once in a scan.
  void ExpectScanned() const {
    std::map<std::string, uint64_t> scanned;
    uint64_t cursor = 0;
    do {
      cursor = list_.Scan(cursor, [&](std::string_view member, uint64_t code) {
        EXPECT_TRUE(scanned.emplace(member, code).second) << member;
      });
    } while (cursor != 0);
    ASSERT_EQ(scanned, codes_);
  }

  std::string SomeMember(Rng& rng) const {
    const auto place = list_.At(rng.Below(size()));
    MemberBuffer buffer;
    return std::string(place.block->MemberAt(place.index, buffer));
  }

 private:
  static Block* FirstBlock(const Key& key) {
    const BlockItem item = {key.first, key.second, MakeLarge(key.second)};
    return PackAll({&item, 1}, false)[0];
  }
  void Note(const Key& key) {
    codes_[key.second] = key.first;
    keys_.insert(key);
  }

  BlockSkipList list_;
  std::map<std::string, uint64_t> codes_;
  std::set<Key> keys_;
};

constexpr int kStyles = 8;

// Keys of one style: what the scores and the members are like.
class Keys {
 public:
  Keys(Rng& rng, int style) : rng_(rng), style_(style) {}

  Key Next() {
    const uint64_t n = rng_.Below(20000);
    switch (style_) {
      case 0:  // scattered scores, padded numerals
        return {ScoreCode(double(rng_.Next())), "member:" + std::to_string(10000000 + n)};
      case 1:  // one score, so that the order is that of the members
        return {ScoreCode(1), std::string(n % 30, 'x') + std::to_string(n)};
      case 2:  // few scores
        return {ScoreCode(double(n % 3)), std::to_string(n * n)};
      case 3:  // rising timestamps
        return {ScoreCode(1.79e9 + double(clock_++)), std::to_string(n)};
      case 4:  // falling ones
        return {ScoreCode(1.79e9 - double(clock_++)), std::to_string(n)};
      case 5:  // scattered scores, members of one length that are no numerals
        return {ScoreCode(double(rng_.Next())), Mixed(n)};
      case 6:  // one score, and mostly descending members
        return {ScoreCode(1), "m" + std::to_string(100'000'000 - clock_++ * 3 + n % 5)};
      case 7:  // falling scores and falling numerals that share their bytes
        ++clock_;
        return {ScoreCode(1.79e9 - double(clock_)), std::to_string(900'000'000 - clock_ * 1000)};
      default:  // members of all lengths, some beyond what a block holds
        return {ScoreCode(double(n % 1000)),
                std::string(n % 400, char(n)) + std::to_string(n % 97)};
    }
  }

 private:
  // Different for each n, like a hash.
  static std::string Mixed(uint64_t n) {
    std::string text;
    for (uint64_t bits = (n + 1) * 0x9E3779B97F4A7C15; text.size() < 12; bits >>= 5) {
      text += char('a' + bits % 23);
    }
    return text;
  }

  Rng& rng_;
  int style_;
  uint64_t clock_ = 0;
};

void RunBesideModel(int style, uint64_t seed) {
  SCOPED_TRACE("style " + std::to_string(style) + " seed " + std::to_string(seed));
  Rng rng(seed);
  Keys keys(rng, style);
  Pair pair(keys.Next());
  for (int step = 0; step < 30000 && !testing::Test::HasFatalFailure(); ++step) {
    const bool growing = step / 10000 != 1;
    const uint64_t chance = rng.Below(100);
    if (chance < (growing ? 70 : 20)) {
      pair.Set(keys.Next());
    } else if (chance < 85) {
      pair.Erase(pair.SomeMember(rng));
    } else if (chance < 99) {
      pair.Set({keys.Next().first, pair.SomeMember(rng)});
    } else if (rng.Below(5) == 0) {
      const size_t first = rng.Below(pair.size());
      pair.Erase(RankRange{first, first + rng.Below(growing ? 30 : 1000)});
    }
    if (step % 3000 == 0) pair.ExpectSame();
  }
  pair.ExpectSame();
}

TEST(BlockSkipList, BehavesLikeTheModel) {
  for (int style = 0; style <= kStyles && !testing::Test::HasFatalFailure(); ++style) {
    RunBesideModel(style, 100 + style);
  }
}

// A change that splits a block leaves its elements indexed under their old block during some more
// changes.
TEST(BlockSkipList, AllAreFoundAfterEachChange) {
  for (int style = 0; style <= kStyles && !testing::Test::HasFatalFailure(); ++style) {
    SCOPED_TRACE("style " + std::to_string(style));
    Rng rng(70 + style);
    Keys keys(rng, style);
    Pair pair(keys.Next());
    while (pair.size() < 300) pair.Set(keys.Next());
    for (int step = 0; step < Steps(200) && !testing::Test::HasFatalFailure(); ++step) {
      const uint64_t chance = rng.Below(100);
      if (chance < 80) {
        pair.Set(keys.Next());
      } else if (chance < 88) {
        pair.Erase(pair.SomeMember(rng));
      } else if (chance < 97) {
        pair.Set({keys.Next().first, pair.SomeMember(rng)});
      } else {
        const size_t first = rng.Below(pair.size());
        pair.Erase(RankRange{first, first + rng.Below(20)});
      }
      pair.ExpectSame();
      pair.ExpectScanned();
    }
  }
}

TEST(BlockSkipList, LongRangesAreRemovedTogetherAndLeaveNoEntries) {
  for (int style = 0; style <= kStyles && !testing::Test::HasFatalFailure(); style += 3) {
    SCOPED_TRACE("style " + std::to_string(style));
    Rng rng(40 + style);
    Keys keys(rng, style);
    Pair pair(keys.Next());
    for (int round = 0; round < Steps(12) && !testing::Test::HasFatalFailure(); ++round) {
      while (pair.size() < 9000) pair.Set(keys.Next());
      const size_t first = rng.Below(pair.size());
      pair.Erase(RankRange{first, first + 2100 + rng.Below(6000)});
      pair.ExpectSame();
      for (int step = 0; step < 100; ++step) pair.Erase(pair.SomeMember(rng));
      pair.ExpectSame();
    }
  }
}

TEST(BlockSkipList, ElementsInOrderFillTheirBlocks) {
  const std::vector<Key (*)(int)> orders = {
      [](int i) { return Key(ScoreCode(i), std::to_string(1000000 + i)); },
      [](int i) { return Key(ScoreCode(-i), std::to_string(1000000 + i)); },
      [](int i) { return Key(ScoreCode(-i), std::to_string(2000000 - i)); },
      [](int i) { return Key(ScoreCode(0), std::to_string(1000000 + i)); },
      [](int i) { return Key(ScoreCode(0), std::to_string(2000000 - i)); },
  };
  for (const auto& key_of : orders) {
    Pair pair(key_of(0));
    for (int i = 1; i < 12800; ++i) pair.Set(key_of(i));
    size_t blocks = 0;
    const BlockSkipList& list = pair.list();
    for (const Block* block = list.At(0).block; block; block = list.Next(*block)) ++blocks;
    EXPECT_LE(blocks, 102u);
    pair.ExpectSame();
  }
}

// Half of a block's elements, its higher ones or its lower ones, may have nearly all of its bytes.
TEST(BlockSkipList, AHeavyHalfIsDividedOnceMore) {
  for (const double sign : {1, -1}) {
    for (size_t bytes = 230; bytes <= 254; ++bytes) {
      Pair pair({ScoreCode(0), "0"});
      for (char i = 1; i < 64; ++i) pair.Set({ScoreCode(sign * i), std::string(1, '0' + i)});
      for (char i = 0; i < 15; ++i) {
        pair.Set({ScoreCode(sign * (100 + 2 * i)), std::string(bytes - 1, 'm') + char('a' + i)});
      }
      pair.Set({ScoreCode(sign * 115), std::string(254, 'n')});
      pair.ExpectSame();
    }
  }
}

TEST(BlockSkipList, UnderfullBlocksAreMerged) {
  Rng rng(5);
  Pair pair({ScoreCode(0), "first"});
  for (int i = 0; i < 20000; ++i) pair.Set({ScoreCode(double(rng.Next())), std::to_string(i)});
  const size_t full = pair.list().BytesUsed();
  while (pair.size() > 1000) pair.Erase(pair.SomeMember(rng));
  pair.ExpectSame();
  EXPECT_LT(pair.list().BytesUsed(), full / 8);
}

}  // namespace
}  // namespace zsetd::block_skip_list_test
