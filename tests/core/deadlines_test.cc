#include "core/deadlines.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "core/keyspace.h"
#include "core/rng.h"

namespace zsetd {
namespace {

// Entries come from a keyspace only; what it knows of deadlines is not used here.
std::vector<Entry*> MakeEntries(Keyspace& keys, int count) {
  std::vector<Entry*> entries;
  for (int i = 0; i < count; ++i) entries.push_back(&keys.Put(std::to_string(i), ByteString()));
  return entries;
}

TEST(Deadlines, EmptyHasNeitherFirstNorLast) {
  EXPECT_EQ(Deadlines().Earliest(), nullptr);
  EXPECT_EQ(Deadlines().Latest(), nullptr);
  EXPECT_EQ(Deadlines().size(), 0u);
  EXPECT_EQ(Deadlines().Mean(), Millis(0));
}

TEST(Deadlines, EntriesMayShareADeadline) {
  Keyspace keys(1);
  const auto entries = MakeEntries(keys, 3);
  Deadlines deadlines;
  for (Entry* entry : entries) deadlines.Add(Millis(5), *entry);
  EXPECT_EQ(deadlines.size(), 3u);
  deadlines.Remove(Millis(5), *entries[0]);
  deadlines.Remove(Millis(5), *entries[2]);
  EXPECT_EQ(deadlines.Earliest(), entries[1]);
  EXPECT_EQ(deadlines.Latest(), entries[1]);
}

TEST(Deadlines, MeanOfTheLargestIsNotTooLarge) {
  Keyspace keys(1);
  Deadlines deadlines;
  for (Entry* entry : MakeEntries(keys, 3)) deadlines.Add(Millis::max(), *entry);
  EXPECT_EQ(deadlines.Mean(), Millis::max());
}

TEST(Deadlines, KnowTheEarliestTheLatestAndTheMean) {
  const uint64_t seed = 7;
  SCOPED_TRACE(seed);
  Rng rng(seed);
  Keyspace keys(1);
  const auto entries = MakeEntries(keys, 50);
  Deadlines deadlines;
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

TEST(Deadlines, MovedFromIsEmpty) {
  Keyspace keys(1);
  Deadlines deadlines;
  deadlines.Add(Millis(1), *MakeEntries(keys, 1)[0]);
  const Deadlines taken = std::move(deadlines);
  EXPECT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken.Mean(), Millis(1));
  EXPECT_EQ(deadlines.size(), 0u);
  EXPECT_EQ(deadlines.Mean(), Millis(0));
}

}  // namespace
}  // namespace zsetd
