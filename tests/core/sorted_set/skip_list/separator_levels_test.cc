#include "core/sorted_set/skip_list/separator_levels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/util/rng.h"
#include "tests/support/steps.h"

namespace zsetd::separator_levels_test {
namespace {

using Key = std::pair<uint64_t, std::string>;

struct Block {
  uint32_t id;
  size_t span;
};

// The row of blocks with their separators. The separator of the first block is below every key.
class Model {
 public:
  explicit Model(uint32_t id, size_t span) { blocks[{0, ""}] = {id, span}; }

  auto Find(const Key& key) { return std::prev(blocks.upper_bound(key)); }
  size_t Before(const std::map<Key, Block>::iterator& block) {
    size_t before = 0;
    for (auto at = blocks.begin(); at != block; ++at) before += at->second.span;
    return before;
  }
  // One of the neighbours receives the keys of a removed block: `heir` is its number.
  void Remove(std::map<Key, Block>::iterator block, uint32_t heir) {
    const auto next = std::next(block);
    if (next != blocks.end() && next->second.id == heir) {
      block->second = next->second;
      block = next;
    }
    blocks.erase(block);
  }

  std::map<Key, Block> blocks;
};

Key SomeKey(Rng& rng) {
  if (rng.Below(2) == 0) return {1 + rng.Below(100000), ""};
  return {50000, std::string(rng.Below(40), 'm') + std::to_string(rng.Below(5000))};
}

void ExpectSame(const SeparatorLevels& levels, Model& model, const Key& key) {
  const auto block = model.Find(key);
  const auto path = levels.Find(key.first, key.second);
  ASSERT_EQ(path.child, block->second.id);
  ASSERT_EQ(path.before, model.Before(block));
  if (block->second.span > 0) {
    const auto by_rank = levels.FindRank(path.before + block->second.span - 1);
    ASSERT_EQ(by_rank.child, block->second.id);
    ASSERT_EQ(by_rank.before, path.before);
  }
}

TEST(SeparatorLevels, BehaveLikeTheModel) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    SeparatorLevels levels(0, 100);
    Model model(0, 100);
    uint32_t next_id = 1;
    for (int step = 0; step < 12000 && !testing::Test::HasFatalFailure(); ++step) {
      const Key key = SomeKey(rng);
      const auto block = model.Find(key);
      const uint64_t chance = rng.Below(10);
      const bool growing = step / 3000 % 2 == 0;
      if (chance < 2) {
        const size_t more = rng.Below(50);
        levels.Add(levels.Find(key.first, key.second), more);
        block->second.span += more;
      } else if (chance < (growing ? 8 : 4)) {
        if (block->first == key) continue;
        const size_t moved = rng.Below(block->second.span + 1);
        if (block == model.blocks.begin() && rng.Below(2) == 0) {
          levels.Prepend(key.first, key.second, next_id, moved);
          model.blocks[key] = {block->second.id, moved};
          block->second = {next_id++, block->second.span - moved};
          continue;
        }
        levels.Split(key.first, key.second, next_id, moved);
        block->second.span -= moved;
        model.blocks[key] = {next_id++, moved};
      } else if (model.blocks.size() > 1) {
        levels.Add(levels.Find(key.first, key.second), -ptrdiff_t(block->second.span));
        levels.Remove(levels.Find(key.first, key.second));
        const Key& freed = block->first;
        model.Remove(block, levels.Find(freed.first, freed.second).child);
      }
      levels.Check();
      ExpectSame(levels, model, SomeKey(rng));
    }
  }
}

// A row of blocks, some with the same code, and levels over it.
struct Row {
  explicit Row(Rng& rng, uint32_t count) : levels(0, 1), keys(1), blocks{{0, 1}} {
    for (uint32_t id = 1; id < count; ++id) {
      keys.emplace_back(1 + id / 10, id % 10 == 0 ? "" : std::string(id % 10, 'm'));
      blocks.push_back({id, 1 + rng.Below(5)});
      levels.Split(keys.back().first, keys.back().second, id, 0);
      levels.Add(levels.Find(keys.back().first, keys.back().second), blocks.back().span);
    }
  }

  size_t Before(size_t block) const {
    size_t before = 0;
    for (size_t i = 0; i < block; ++i) before += blocks[i].span;
    return before;
  }
  void Cut(size_t first, size_t last) {
    std::vector<uint32_t> cut, expected;
    for (size_t i = first; i < last; ++i) expected.push_back(blocks[i].id);
    levels.Cut(Before(first), Before(last), cut);
    EXPECT_EQ(cut, expected);
    keys.erase(keys.begin() + first, keys.begin() + last);
    blocks.erase(blocks.begin() + first, blocks.begin() + last);
  }
  void ExpectFindsAll() const {
    levels.Check();
    size_t before = 0;
    for (size_t i = 0; i < blocks.size(); before += blocks[i++].span) {
      const auto path = levels.Find(keys[i].first, keys[i].second);
      ASSERT_EQ(path.child, blocks[i].id);
      ASSERT_EQ(path.before, before);
      ASSERT_EQ(levels.FindRank(before).child, blocks[i].id);
    }
  }

  SeparatorLevels levels;
  std::vector<Key> keys;
  std::vector<Block> blocks;
};

TEST(SeparatorLevels, CutOutAnyRunOfBlocks) {
  for (int seed = 1; seed <= Steps(100) && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    Row row(rng, 2 + rng.Below(9000));
    while (row.blocks.size() > 1) {
      const size_t first = rng.Below(row.blocks.size());
      const size_t count = 1 + rng.Below(row.blocks.size() - first);
      if (count == row.blocks.size()) continue;
      row.Cut(first, first + count);
      row.ExpectFindsAll();
    }
    EXPECT_EQ(row.levels.height(), 1);
  }
}

TEST(SeparatorLevels, BlocksInOrderFillTheNodes) {
  SeparatorLevels levels(0, 1);
  for (uint32_t id = 1; id < SeparatorLevels::kFanout * SeparatorLevels::kFanout; ++id) {
    levels.Split(id, "", id, 0);
  }
  EXPECT_EQ(levels.height(), 2);
  // An allocator may add a few unusable bytes to a node.
  EXPECT_LE(levels.BytesUsed(),
            (SeparatorLevels::kFanout + 1) * (SeparatorLevels::kNodeBytes + 16));
}

TEST(SeparatorLevels, BlocksInDescendingOrderFillTheNodes) {
  constexpr uint32_t kBlocks = SeparatorLevels::kFanout * SeparatorLevels::kFanout;
  SeparatorLevels levels(0, 1);
  for (uint32_t id = 1; id < kBlocks; ++id) {
    levels.Add(levels.FindRank(0), 1);
    levels.Prepend(kBlocks - id, "", id, 1);
  }
  levels.Check();
  EXPECT_EQ(levels.size(), kBlocks);
  EXPECT_EQ(levels.height(), 2 + 1);  // a node that was filled from above lacks one
  EXPECT_LE(levels.BytesUsed(),
            (SeparatorLevels::kFanout + 4) * (SeparatorLevels::kNodeBytes + 16));
  for (uint32_t rank = 0; rank < kBlocks; ++rank) {
    ASSERT_EQ(levels.FindRank(rank).child, kBlocks - 1 - rank);
  }
}

TEST(SeparatorLevels, ReleaseTheirMemory) {
  Rng rng(9);
  SeparatorLevels levels(0, 0);
  std::vector<Key> keys;
  for (uint32_t id = 1; id <= 5000; ++id) {
    keys.emplace_back(7, std::string(30, 'k') + std::to_string(id));
    levels.Split(keys.back().first, keys.back().second, id, 0);
  }
  for (; !keys.empty(); keys.pop_back()) {
    std::swap(keys[rng.Below(keys.size())], keys.back());
    levels.Remove(levels.Find(keys.back().first, keys.back().second));
  }
  EXPECT_EQ(levels.height(), 1);
  EXPECT_LE(levels.BytesUsed(),
            SeparatorLevels::kNodeBytes + 4096);  // the space of its ties may stay
}

TEST(SeparatorLevels, FewBlocksTakeLittleMemory) {
  SeparatorLevels levels(0, 1);
  EXPECT_LE(levels.BytesUsed(), 160u);
  for (uint32_t id = 1; id < 6; ++id) levels.Split(id, "", id, 0);
  EXPECT_LE(levels.BytesUsed(), 256u);
}

}  // namespace
}  // namespace zsetd::separator_levels_test
