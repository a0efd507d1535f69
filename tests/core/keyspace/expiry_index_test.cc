#include "core/keyspace/expiry_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/keyspace/keyspace.h"
#include "core/keyspace/value.h"
#include "core/util/rng.h"
#include "tests/core/check_after_change.h"

namespace zsetd {
namespace {

// The keyspace only owns the entries. Its own index of deadlines is not used here.
std::vector<Entry*> MakeEntries(Keyspace& keys, int count) {
  std::vector<Entry*> entries;
  for (int i = 0; i < count; ++i) {
    entries.push_back(&keys.Insert(Entry::Make(std::to_string(i), ByteString())));
  }
  return entries;
}

TEST(ExpiryIndex, EmptyHasNeitherFirstNorLast) {
  EXPECT_EQ(ExpiryIndex().Earliest(), nullptr);
  EXPECT_EQ(ExpiryIndex().Latest(), nullptr);
  EXPECT_EQ(ExpiryIndex().size(), 0u);
  EXPECT_EQ(ExpiryIndex().Mean(), Millis(0));
}

TEST(ExpiryIndex, EntriesMayShareADeadline) {
  Keyspace keys(1);
  const auto entries = MakeEntries(keys, 3);
  ExpiryIndex deadlines;
  for (Entry* entry : entries) deadlines.Add(Millis(5), *entry);
  EXPECT_EQ(deadlines.size(), 3u);
  deadlines.Remove(Millis(5), *entries[0]);
  deadlines.Remove(Millis(5), *entries[2]);
  EXPECT_EQ(deadlines.Earliest(), entries[1]);
  EXPECT_EQ(deadlines.Latest(), entries[1]);
}

TEST(ExpiryIndex, MeanOfTheLargestIsNotTooLarge) {
  Keyspace keys(1);
  ExpiryIndex deadlines;
  for (Entry* entry : MakeEntries(keys, 3)) deadlines.Add(Millis::max(), *entry);
  EXPECT_EQ(deadlines.Mean(), Millis::max());
}

TEST(ExpiryIndex, KnowsTheEarliestTheLatestAndTheMean) {
  const uint64_t seed = 7;
  SCOPED_TRACE(seed);
  Rng rng(seed);
  Keyspace keys(1);
  const auto entries = MakeEntries(keys, 50);
  ExpiryIndex deadlines;
  std::map<Entry*, Millis> model;
  for (int step = 0; step < 5'000; ++step) {
    Entry* entry = entries[rng.Below(entries.size())];
    if (const auto known = model.find(entry); known != model.end()) {
      deadlines.Remove(known->second, *entry);
      model.erase(known);
    } else {
      model[entry] = Millis(static_cast<int64_t>(rng.Below(30)) - 10);
      deadlines.Add(model[entry], *entry);
    }
    ASSERT_EQ(deadlines.size(), model.size());
    CheckAfterChange(deadlines, step);
    if (model.empty()) continue;
    int64_t sum = 0;
    for (const auto& [each, deadline] : model) sum += deadline.count();
    ASSERT_EQ(deadlines.Mean().count(), sum / static_cast<int64_t>(model.size()));
    const auto sooner = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto [first, last] = std::minmax_element(model.begin(), model.end(), sooner);
    ASSERT_EQ(model.at(deadlines.Earliest()), first->second);
    ASSERT_EQ(model.at(deadlines.Latest()), last->second);
  }
}

TEST(ExpiryIndex, YieldsDeadlinesInOrderWhateverTheInsertionOrder) {
  constexpr int kCount = 3'000;  // many blocks
  Keyspace keys(1);
  const auto entries = MakeEntries(keys, kCount);
  for (const int stride : {1, kCount - 1, 1'009}) {
    ExpiryIndex deadlines;
    std::map<Entry*, Millis> model;
    for (int i = 0; i < kCount; ++i) {
      const Millis deadline(int64_t{i} * stride % kCount / 2 * 1'000'000'007);
      model[entries[i]] = deadline;
      deadlines.Add(deadline, *entries[i]);
    }
    Millis last(0);
    while (Entry* entry = deadlines.Earliest()) {
      ASSERT_GE(model.at(entry), last);
      last = model.at(entry);
      deadlines.Remove(last, *entry);
      ASSERT_EQ(model.erase(entry), 1u);
    }
    EXPECT_TRUE(model.empty());
    EXPECT_EQ(deadlines.size(), 0u);
  }
}

TEST(ExpiryIndex, BehavesLikeASetWhileItFillsAndEmpties) {
  const uint64_t seed = 11;
  SCOPED_TRACE(seed);
  Rng rng(seed);
  Keyspace keys(1);
  const auto entries = MakeEntries(keys, 2'000);
  ExpiryIndex deadlines;
  std::map<Entry*, Millis> model;
  std::multiset<Millis> ordered;
  for (int step = 0; step < 60'000; ++step) {
    const bool filling = step / 10'000 % 2 == 0;
    Entry* entry = entries[rng.Below(entries.size())];
    const auto known = model.find(entry);
    if (known != model.end() && (!filling || rng.Below(4) == 0)) {
      deadlines.Remove(known->second, *entry);
      ordered.erase(ordered.find(known->second));
      model.erase(known);
    } else if (known == model.end() && (filling || rng.Below(4) == 0)) {
      const Millis deadline(static_cast<int64_t>(rng.Below(1'000'000)) - 1'000 + step);
      deadlines.Add(deadline, *entry);
      ordered.insert(deadline);
      model[entry] = deadline;
    }
    ASSERT_EQ(deadlines.size(), model.size());
    if (model.empty()) continue;
    ASSERT_EQ(model.at(deadlines.Earliest()), *ordered.begin());
    ASSERT_EQ(model.at(deadlines.Latest()), *ordered.rbegin());
  }
}

TEST(ExpiryIndex, HoldsTheFurthestDeadlinesToo) {
  Keyspace keys(1);
  const auto entries = MakeEntries(keys, 3);
  ExpiryIndex deadlines;
  deadlines.Add(Millis::max(), *entries[0]);
  deadlines.Add(Millis(-5), *entries[1]);
  deadlines.Add(Millis::min() + Millis(1), *entries[2]);
  EXPECT_EQ(deadlines.Latest(), entries[0]);
  EXPECT_EQ(deadlines.Earliest(), entries[2]);
  deadlines.Remove(Millis::max(), *entries[0]);
  deadlines.Remove(Millis::min() + Millis(1), *entries[2]);
  EXPECT_EQ(deadlines.Earliest(), entries[1]);
}

// Full blocks and one with a single entry; each entry is drawn 200 times: six standard deviations
// in either direction.
TEST(ExpiryIndex, RandomFavoursNoEntry) {
  constexpr int kEntries = 385;
  Rng rng(1);
  Keyspace keys(1);
  ExpiryIndex deadlines;
  EXPECT_EQ(deadlines.Random(rng), nullptr);
  int64_t deadline = 0;
  for (Entry* entry : MakeEntries(keys, kEntries)) deadlines.Add(Millis(++deadline), *entry);
  std::map<Entry*, int> drawn;
  for (int i = 0; i < kEntries * 200; ++i) ++drawn[deadlines.Random(rng)];
  EXPECT_EQ(drawn.size(), size_t{kEntries});
  for (const auto& [entry, times] : drawn) EXPECT_NEAR(times, 200, 85) << entry->key();
}

TEST(ExpiryIndex, MovedFromIsEmpty) {
  Keyspace keys(1);
  ExpiryIndex deadlines;
  deadlines.Add(Millis(1), *MakeEntries(keys, 1)[0]);
  const ExpiryIndex taken = std::move(deadlines);
  EXPECT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken.Mean(), Millis(1));
  EXPECT_EQ(deadlines.size(), 0u);
  EXPECT_EQ(deadlines.Mean(), Millis(0));
}

}  // namespace
}  // namespace zsetd
