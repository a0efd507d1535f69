// The pending entries of a group behave like a map from IDs to deliveries.
#include "core/stream/consumer_group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/util/rng.h"

namespace zsetd::consumer_group_test {
namespace {

using Model = std::map<StreamId, PendingEntry>;

std::vector<PendingEntry> Contents(const PendingEntries& entries, StreamId from,
                                   std::optional<uint32_t> consumer) {
  std::vector<PendingEntry> contents;
  for (PendingEntries::Cursor at(entries, from, consumer); at.valid(); at.Next()) {
    contents.push_back(at.entry());
  }
  return contents;
}

std::vector<PendingEntry> Contents(const Model& model, StreamId from,
                                   std::optional<uint32_t> consumer) {
  std::vector<PendingEntry> contents;
  for (auto at = model.lower_bound(from); at != model.end(); ++at) {
    if (!consumer || at->second.consumer == *consumer) contents.push_back(at->second);
  }
  return contents;
}

StreamId AnyId(const Model& model, Rng& rng) {
  if (model.empty() || rng.Below(5) == 0) return {rng.Below(5000), rng.Below(3)};
  return std::next(model.begin(), static_cast<ptrdiff_t>(rng.Below(model.size())))->first;
}

PendingEntry AnyEntry(StreamId id, Rng& rng) {
  return {.id = id,
          .consumer = static_cast<uint32_t>(rng.Below(rng.Below(10) == 0 ? 300 : 3)),
          .delivered = Millis(1'700'000'000'000 + static_cast<int64_t>(rng.Below(100'000))),
          .deliveries = rng.Below(30) == 0 ? rng.Next() : rng.Below(3)};
}

TEST(PendingEntries, EqualAMapAfterRandomChanges) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  for (int round = 0; round < 10; ++round) {
    PendingEntries entries;
    Model model;
    uint64_t last = 0;
    const uint64_t additions = 2 + rng.Below(7);
    for (int step = 0; step < 3000; ++step) {
      const uint64_t choice = rng.Below(10);
      if (choice < additions) {
        const StreamId id =
            rng.Below(3) > 0 ? StreamId{last += rng.Below(9), 5} : AnyId(model, rng);
        const PendingEntry entry = AnyEntry(id, rng);
        entries.Set(entry);
        model[id] = entry;
      } else {
        const StreamId id = AnyId(model, rng);
        const auto found = model.find(id);
        ASSERT_EQ(entries.Find(id),
                  found == model.end() ? std::nullopt : std::optional(found->second));
        ASSERT_EQ(entries.Erase(id), model.erase(id) == 1);
      }
      ASSERT_EQ(entries.size(), model.size());
      if (rng.Below(20) > 0) continue;
      const StreamId from = AnyId(model, rng);
      const auto consumer = rng.Below(2) == 0 ? std::nullopt : std::optional<uint32_t>(1);
      ASSERT_EQ(Contents(entries, from, consumer), Contents(model, from, consumer));
    }
    EXPECT_EQ(Contents(entries.Clone(), kFirstStreamId, std::nullopt),
              Contents(model, kFirstStreamId, std::nullopt));
  }
}

std::vector<PendingEntry> Idle(const Model& model, Millis since) {
  std::vector<PendingEntry> idle;
  for (const auto& [id, entry] : model) {
    if (entry.IsIdleSince(since)) idle.push_back(entry);
  }
  std::ranges::stable_sort(idle, [](const PendingEntry& a, const PendingEntry& b) {
    if (a.is_released() != b.is_released()) return a.is_released();
    return a.delivered < b.delivered;
  });
  return idle;
}

TEST(PendingEntries, FindIdleEntriesInTheOrderOfClaims) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  const auto all = [](StreamId) { return true; };
  for (int round = 0; round < 30; ++round) {
    PendingEntries entries;
    Model model;
    for (uint64_t left = rng.Below(1000); left > 0; --left) {
      PendingEntry entry = AnyEntry({rng.Below(5000), 0}, rng);
      if (rng.Below(20) == 0) {
        entry.consumer = PendingEntry::kNoConsumer;
        entry.delivered = Millis(static_cast<int64_t>(rng.Below(9)));
      }
      entries.Set(entry);
      model[entry.id] = entry;
    }
    const Millis since(1'700'000'000'000 + static_cast<int64_t>(rng.Below(100'000)));
    std::vector<PendingEntry> expected = Idle(model, since);
    ASSERT_EQ(entries.AnyIdle(since, all), !expected.empty());
    ASSERT_FALSE(entries.AnyIdle(since, [](StreamId) { return false; }));
    ASSERT_EQ(entries.Idle(since, UINT64_MAX, all), expected);
    const uint64_t most = rng.Below(50);
    expected.resize(std::min<size_t>(expected.size(), most));
    ASSERT_EQ(entries.Idle(since, most, all), expected);
    std::optional<Millis> next;
    for (const auto& [id, entry] : model) {
      if (!entry.is_released() && entry.delivered > since && (!next || entry.delivered < *next)) {
        next = entry.delivered;
      }
    }
    ASSERT_EQ(entries.NextDelivery(since), next);
  }
}

// Trimmed entries precede all that a stream has, so the search need not ask for them.
TEST(PendingEntries, FindIdleEntriesFromAnId) {
  constexpr uint64_t kEntries = 1000;
  PendingEntries entries;
  for (uint64_t i = 0; i < kEntries; ++i) {
    entries.Set({.id = {i, 0}, .delivered = Millis(static_cast<int64_t>(100 + i))});
  }
  for (const uint64_t from : {uint64_t{0}, uint64_t{1}, uint64_t{700}, kEntries}) {
    uint64_t asked = 0;
    const auto none = [&](StreamId id) {
      EXPECT_GE(id, (StreamId{from, 0}));
      ++asked;
      return false;
    };
    EXPECT_FALSE(entries.AnyIdle(Millis(100 + kEntries), none, {from, 0}));
    EXPECT_EQ(asked, kEntries - from);
    const auto all = [](StreamId) { return true; };
    EXPECT_EQ(entries.Idle(Millis(100 + kEntries), UINT64_MAX, all, {from, 0}).size(),
              kEntries - from);
    EXPECT_EQ(entries.NextDelivery(Millis(0), {from, 0}),
              from == kEntries ? std::nullopt : std::optional(Millis(100 + from)));
  }
}

TEST(PendingEntries, CursorsEndAfterTheEntriesThatTheyAreFor) {
  PendingEntries entries;
  for (uint64_t i = 0; i < 1000; ++i) {
    entries.Set({.id = {i, 0}, .consumer = static_cast<uint32_t>(i % 10)});
  }
  for (const size_t most : {size_t{0}, size_t{1}, size_t{30}, size_t{100}, size_t{101}}) {
    size_t count = 0;
    for (PendingEntries::Cursor at(entries, kFirstStreamId, 3, most); at.valid(); at.Next()) {
      EXPECT_EQ(at.entry().id, (StreamId{3 + 10 * count++, 0}));
    }
    EXPECT_EQ(count, std::min<size_t>(most, 100));
  }
}

// The target is 12 bytes; redis-server 7.0 takes about 150.
TEST(PendingEntries, TakeFewBytes) {
  constexpr uint64_t kEntries = 100'000;
  PendingEntries entries;
  Rng rng(1);
  for (uint64_t i = 0; i < kEntries; ++i) {
    const auto ms = 1'700'000'000'000 + i * 3;
    entries.Set({.id = {ms, i % 2},
                 .consumer = static_cast<uint32_t>(rng.Below(10)),
                 .delivered = Millis(static_cast<int64_t>(ms + rng.Below(1000))),
                 .deliveries = 1 + rng.Below(2)});
  }
  EXPECT_LE(entries.BytesUsed(), kEntries * 12);
  RecordProperty("bytes", std::to_string(static_cast<double>(entries.BytesUsed()) / kEntries));
}

TEST(PendingEntries, TakeNoHeapMemoryIfThereAreNone) {
  PendingEntries entries;
  EXPECT_EQ(entries.BytesUsed(), 0u);
  entries.Set({.id = {1, 0}});
  entries.Take({1, 0});
  EXPECT_EQ(entries.BytesUsed(), 0u);
}

TEST(ConsumerGroup, CountsThePendingEntriesOfItsConsumers) {
  ConsumerGroup group({5, 0}, 3);
  EXPECT_TRUE(group.AddConsumer("a", Millis(1)));
  EXPECT_FALSE(group.AddConsumer("a", Millis(2)));
  EXPECT_TRUE(group.AddConsumer("b", Millis(3)));
  group.SetPending({1, 0}, "a", Millis(10), 1);
  group.SetPending({2, 0}, "a", Millis(10), 1);
  group.SetPending({2, 0}, "b", Millis(11), 2);
  EXPECT_EQ(group.FindConsumer("a")->pending, 1u);
  EXPECT_EQ(group.FindConsumer("b")->pending, 1u);
  EXPECT_EQ(group.NameOf(*group.pending().Find({2, 0})), "b");
  EXPECT_TRUE(group.Acknowledge({1, 0}));
  EXPECT_FALSE(group.Acknowledge({1, 0}));
  EXPECT_EQ(group.FindConsumer("a")->pending, 0u);

  const ConsumerGroup copy = group.Clone();
  EXPECT_EQ(group.RemoveConsumer("b"), 1u);
  EXPECT_EQ(group.RemoveConsumer("b"), 0u);
  EXPECT_EQ(group.pending().size(), 0u);
  EXPECT_TRUE(group.AddConsumer("c", Millis(4)));
  EXPECT_EQ(group.FindConsumer("c")->number, 1u);  // that of b
  EXPECT_EQ(copy.NameOf(*copy.pending().Find({2, 0})), "b");
  EXPECT_EQ(copy.last_id(), (StreamId{5, 0}));
}

TEST(ConsumerGroup, UsesNumbersOfRemovedConsumersAgain) {
  constexpr uint32_t kConsumers = 100;
  constexpr uint64_t kSeed = 7;
  Rng rng(kSeed);
  ConsumerGroup group;
  for (int i = 0; i < 2000; ++i) {
    const std::string name = std::to_string(rng.Below(kConsumers));
    if (rng.Below(2) == 0) {
      group.AddConsumer(name, Millis(1));
    } else {
      group.RemoveConsumer(name);
    }
    std::set<uint32_t> numbers;
    for (const auto& [each, consumer] : group.consumers()) numbers.insert(consumer.number);
    ASSERT_EQ(numbers.size(), group.consumers().size());
    ASSERT_TRUE(numbers.empty() || *numbers.rbegin() < kConsumers);
  }
}

TEST(ConsumerGroup, HasTheFirstPendingEntriesOfEachConsumer) {
  constexpr uint64_t kSeed = 5;
  Rng rng(kSeed);
  ConsumerGroup group;
  for (const std::string name : {"a", "idle", "b", "c"}) group.AddConsumer(name, Millis(1));
  group.RemoveConsumer("b");
  for (uint64_t i = 0; i < 500; ++i) {
    group.SetPending({i, 0}, rng.Below(50) == 0 ? "c" : "a", Millis(10), 1);
    if (rng.Below(10) == 0) group.Release({i, 0}, 1);
  }
  for (const size_t most : {size_t{0}, size_t{1}, size_t{10}, SIZE_MAX}) {
    const auto first = group.FirstPending(most);
    for (const auto& [name, consumer] : group.consumers()) {
      std::vector<PendingEntry> expected =
          Contents(group.pending(), kFirstStreamId, consumer.number);
      expected.resize(std::min(expected.size(), most));
      EXPECT_EQ(first[consumer.number], expected) << name;
    }
  }
}

TEST(ConsumerGroup, KeepsReleasedEntriesWithoutAConsumer) {
  ConsumerGroup group;
  group.AddConsumer("a", Millis(1));
  group.SetPending({1, 0}, "a", Millis(10), 1);
  group.SetPending({2, 0}, "a", Millis(10), 1);
  group.Release({2, 0}, 7);
  group.Release({1, 0}, 1);
  group.Release({3, 0}, 0);
  EXPECT_EQ(group.released(), 3u);
  EXPECT_EQ(group.FindConsumer("a")->pending, 0u);
  EXPECT_EQ(group.NameOf(*group.pending().Find({1, 0})), "");
  EXPECT_EQ(group.pending().Find({2, 0})->delivery_time(), Millis(0));

  const auto all = [](StreamId) { return true; };
  const ConsumerGroup copy = group.Clone();
  EXPECT_EQ(copy.released(), 3u);
  group.Release({2, 0}, 7);  // is the last one now
  EXPECT_EQ(group.pending().Idle(Millis(0), 1, all)[0].id, (StreamId{1, 0}));
  EXPECT_EQ(copy.pending().Idle(Millis(0), 1, all)[0].id, (StreamId{2, 0}));

  group.SetPending({1, 0}, "a", Millis(20), 2);
  EXPECT_TRUE(group.Acknowledge({3, 0}));
  EXPECT_EQ(group.released(), 1u);
  EXPECT_EQ(group.RemoveConsumer("a"), 1u);
  EXPECT_EQ(group.pending().size(), 1u);
}

}  // namespace
}  // namespace zsetd::consumer_group_test
