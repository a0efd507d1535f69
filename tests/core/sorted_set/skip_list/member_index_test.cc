#include "core/sorted_set/skip_list/member_index.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "core/util/rng.h"

namespace zsetd {
namespace {

// Blocks as bare lists of hashes.
class PlainBlocks : public MemberIndex::Blocks {
 public:
  std::optional<uint64_t> HashOf(uint32_t id, uint8_t tag, uint64_t mask, uint64_t low_bits,
                                 size_t nth) const override {
    const auto found = blocks.find(id);
    if (found == blocks.end()) return std::nullopt;
    for (const uint64_t hash : found->second) {
      if (MemberIndex::TagOf(hash) != tag || (hash & mask) != low_bits) continue;
      if (nth-- == 0) return hash;
    }
    return std::nullopt;
  }
  bool IsThere(uint32_t id) const override { return blocks.contains(id); }
  void PrefetchBlock(uint32_t) const override {}
  void PrefetchMember(uint32_t, uint8_t) const override {}

  std::map<uint32_t, std::vector<uint64_t>> blocks;
};

// Returns how many entries for `hash` name block `id`.
size_t Entries(const MemberIndex& index, uint64_t hash, uint32_t id) {
  size_t count = 0;
  index.Find(hash, [&](uint32_t candidate) { return count += candidate == id, false; });
  return count;
}

void ExpectFindsAll(const MemberIndex& index, const PlainBlocks& model) {
  size_t size = 0;
  for (const auto& [id, hashes] : model.blocks) {
    size += hashes.size();
    for (const uint64_t hash : hashes) ASSERT_GT(Entries(index, hash, id), 0u);
  }
  ASSERT_EQ(index.size(), size);
}

// Few tags, low bits and blocks, so that entries are often equal.
uint64_t SomeHash(Rng& rng) { return rng.Below(3) << 56 | rng.Below(4096); }
uint32_t SomeId(Rng& rng) { return rng.Below(2) == 0 ? rng.Below(10) : 65530 + rng.Below(10); }

TEST(MemberIndex, FindsEveryMemberWhileItGrowsMovesAndShrinks) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    MemberIndex index;
    PlainBlocks model;
    for (int step = 0; step < 12000; ++step) {
      const bool growing = step < 6000;
      const uint32_t id = SomeId(rng), other = SomeId(rng);
      std::vector<uint64_t>& hashes = model.blocks[id];
      if (rng.Below(10) < (growing ? 7 : 2)) {
        hashes.push_back(SomeHash(rng));
        index.Insert(hashes.back(), id);
        if (rng.Below(4) > 0) index.SplitIfFull(model);
      } else if (!hashes.empty()) {
        std::swap(hashes[rng.Below(hashes.size())], hashes.back());
        const uint64_t hash = hashes.back();
        hashes.pop_back();
        if (rng.Below(3) == 0) {
          model.blocks[other].push_back(hash);
          index.Move(hash, id, other);
        } else {
          index.Remove(hash, id, model);
        }
      }
      if (step % 500 == 0) ExpectFindsAll(index, model);
    }
    ExpectFindsAll(index, model);
  }
}

TEST(MemberIndex, TakesLessThanFourBytesAMember) {
  Rng rng(1);
  MemberIndex index;
  PlainBlocks model;
  for (uint32_t i = 0; i < 100000; ++i) {
    const uint64_t hash = rng.Next();
    model.blocks[i / 64].push_back(hash);
    index.Insert(hash, i / 64);
    index.SplitIfFull(model);
  }
  EXPECT_LT(index.BytesUsed(), 430000u);  // glibc rounds to 16 bytes and keeps 8 of them
}

TEST(MemberIndex, StaleEntriesAreRemovedWhenTheirBucketSplits) {
  Rng rng(2);
  MemberIndex index;
  PlainBlocks model;
  for (int i = 0; i < 20000; ++i) {
    if (i == 10000) model.blocks.erase(1);
    const uint64_t hash = rng.Next();
    model.blocks[i < 10000 ? 1 : 2].push_back(hash);
    index.Insert(hash, i < 10000 ? 1 : 2);
    index.SplitIfFull(model);
  }
  EXPECT_LT(index.size(), 15000u);
  for (const uint64_t hash : model.blocks[2]) ASSERT_GT(Entries(index, hash, 2), 0u);
}

TEST(MemberIndex, ARoundOfSweepingLeavesNothingStale) {
  Rng rng(3);
  MemberIndex index;
  PlainBlocks model;
  const auto insert = [&](uint32_t id) {
    model.blocks[id].push_back(rng.Next());
    index.Insert(model.blocks[id].back(), id);
    index.SplitIfFull(model);
  };
  for (int i = 0; i < 20000; ++i) insert(i % 100);
  for (uint32_t id = 0; id < 70; ++id) model.blocks.erase(id);
  const size_t bytes = index.BytesUsed();
  index.StartSweep();
  for (bool more = true; more;) {
    more = index.Sweep(3, model);
    insert(70 + rng.Below(30));  // so buckets split, and are merged, while they are swept
    const uint32_t id = 70 + rng.Below(30);
    if (rng.Below(2) == 0 || model.blocks[id].empty()) continue;
    index.Remove(model.blocks[id].back(), id, model);
    model.blocks[id].pop_back();
  }
  ExpectFindsAll(index, model);
  EXPECT_LT(index.BytesUsed(), bytes / 2);
}

}  // namespace
}  // namespace zsetd
