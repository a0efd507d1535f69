#include "core/keyspace/keyspace.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>

#include "core/keyspace/value.h"

namespace zsetd::keyspace_test {
namespace {

constexpr uint64_t kHashSeed = 99;

std::string_view TextOf(const Entry& entry) { return entry.GetIf<ByteString>()->view(); }

// The key must not exist yet.
Entry& Put(Keyspace& keys, std::string_view key, std::string_view text = "value",
           std::optional<Millis> deadline = std::nullopt) {
  return keys.Insert(Entry::Make(key, ByteString(text), deadline));
}

Entry& PutUntil(Keyspace& keys, std::string_view key, Millis deadline) {
  return Put(keys, key, "value", deadline);
}

std::set<std::string> ScannedKeys(const Keyspace& keys) {
  std::set<std::string> found;
  uint64_t cursor = 0;
  do {
    cursor = keys.Scan(cursor, [&](const Entry& entry) { found.emplace(entry.key()); });
  } while (cursor != 0);
  return found;
}

TEST(Keyspace, FindsStoredKeys) {
  Keyspace keys(kHashSeed);
  EXPECT_EQ(keys.Find("k"), nullptr);
  Entry& entry = Put(keys, "k", "v");
  EXPECT_EQ(keys.Find("k"), &entry);
  EXPECT_EQ(keys.FindEvenDue("k"), &entry);
  EXPECT_EQ(entry.key(), "k");
  EXPECT_EQ(TextOf(entry), "v");
  keys.Extract(entry);
  EXPECT_EQ(keys.Find("k"), nullptr);
  EXPECT_EQ(keys.size(), 0u);
}

TEST(Keyspace, AnEntryReplacesAnotherWithItsDeadline) {
  Keyspace keys(kHashSeed);
  Entry& old = PutUntil(keys, "k", Millis(10));
  auto fresh = Entry::Make("k", List(), Millis(20));
  Entry& placed = *fresh;
  EXPECT_EQ(keys.Replace(old, std::move(fresh)).get(), &old);
  EXPECT_EQ(keys.Find("k"), &placed);
  EXPECT_EQ(keys.size(), 1u);
  EXPECT_EQ(keys.with_deadline(), 1u);
  EXPECT_EQ(keys.NextDeadline(), Millis(20));
}

TEST(Keyspace, DeadlinesAreSetAndRemoved) {
  Keyspace keys(kHashSeed);
  for (size_t length = 0; length < 40; ++length) {  // with or without space for a deadline
    const std::string key(length, 'k');
    Entry& entry = keys.SetDeadline(Put(keys, key, "v"), Millis(10));
    EXPECT_EQ(keys.Find(key), &entry);
    EXPECT_EQ(TextOf(entry), "v");
    EXPECT_EQ(entry.deadline(), Millis(10));
    EXPECT_EQ(keys.NextDeadline(), Millis(10));
    EXPECT_EQ(&keys.SetDeadline(entry, Millis(20)), &entry);
    EXPECT_EQ(keys.NextDeadline(), Millis(20));
    EXPECT_EQ(&keys.SetDeadline(entry, std::nullopt), &entry);
    EXPECT_EQ(keys.Find(key)->deadline(), std::nullopt);
    EXPECT_EQ(keys.NextDeadline(), std::nullopt);
  }
}

TEST(Keyspace, ExpiredKeysAreInvisible) {
  Keyspace keys(kHashSeed);
  Rng rng(1);
  Entry& entry = PutUntil(keys, "k", Millis(10));
  keys.AdvanceTo(Millis(9));
  EXPECT_EQ(keys.Find("k"), &entry);
  EXPECT_EQ(keys.FirstDue(), nullptr);
  EXPECT_EQ(keys.Random(rng), &entry);

  keys.AdvanceTo(Millis(10));
  EXPECT_EQ(keys.Find("k"), nullptr);
  EXPECT_EQ(keys.FindEvenDue("k"), &entry);
  EXPECT_EQ(keys.FirstDue(), &entry);
  EXPECT_EQ(keys.Random(rng), nullptr);
  EXPECT_TRUE(ScannedKeys(keys).empty());
  keys.ForEach([](const Entry&) { FAIL(); });
}

TEST(Keyspace, TheLongestOverdueComesFirst) {
  Keyspace keys(kHashSeed);
  for (int deadline : {5, 3, 9, 4}) PutUntil(keys, std::to_string(deadline), Millis(deadline));
  keys.AdvanceTo(Millis(5));
  std::string order;
  while (Entry* due = keys.FirstDue()) {
    order += due->key();
    keys.Extract(*due);
  }
  EXPECT_EQ(order, "345");
  EXPECT_EQ(keys.size(), 1u);
}

TEST(Keyspace, RandomFindsTheKeyThatHasNotExpired) {
  Keyspace keys(kHashSeed);
  Rng rng(1);
  for (int i = 0; i < 10'000; ++i) PutUntil(keys, std::to_string(i), Millis(10));
  Entry* lasting = &Put(keys, "lasting");
  keys.AdvanceTo(Millis(10));
  EXPECT_EQ(keys.Random(rng), lasting);
  lasting = &keys.SetDeadline(*lasting, Millis(20));
  EXPECT_EQ(keys.Random(rng), lasting);
  keys.AdvanceTo(Millis(20));
  EXPECT_EQ(keys.Random(rng), nullptr);
}

// 100 of 400 keys, each drawn 400 times: five standard deviations in either direction.
TEST(Keyspace, RandomWithDeadlineFavoursNoKey) {
  for (const KeyArrangement arrangement : {KeyArrangement::kWhole, KeyArrangement::kBySlot}) {
    Rng rng(1);
    Keyspace keys(kHashSeed, arrangement);
    EXPECT_EQ(keys.RandomWithDeadline(rng), nullptr);
    for (int i = 0; i < 300; ++i) Put(keys, "lasting" + std::to_string(i));
    EXPECT_EQ(keys.RandomWithDeadline(rng), nullptr);
    for (int i = 0; i < 100; ++i) PutUntil(keys, std::to_string(i), Millis(1));
    keys.AdvanceTo(Millis(2));
    std::map<std::string, int> drawn;
    for (int i = 0; i < 40'000; ++i) {
      ++drawn[std::string(keys.RandomWithDeadline(rng)->key())];
    }
    EXPECT_EQ(drawn.size(), 100u);
    for (const auto& [key, times] : drawn) EXPECT_NEAR(times, 400, 100) << key;
  }
}

// So many that they are found by probing.
TEST(Keyspace, RandomWithDeadlineFindsManyKeys) {
  constexpr int kKeys = 300'000;
  Rng rng(1);
  Keyspace keys(kHashSeed);
  for (int i = 0; i < kKeys; ++i) {
    const auto deadline = i % 10 == 0 ? std::nullopt : std::optional(Millis(1));
    Put(keys, std::to_string(i), "value", deadline);
  }
  std::set<const Entry*> drawn;
  for (int i = 0; i < 1'000; ++i) {
    const Entry* entry = keys.RandomWithDeadline(rng);
    ASSERT_TRUE(entry->deadline());
    drawn.insert(entry);
  }
  EXPECT_GE(drawn.size(), 990u);
}

TEST(Keyspace, MovedFromIsEmpty) {
  Keyspace keys(kHashSeed);
  PutUntil(keys, "k", Millis(10));
  { const Keyspace gone = std::move(keys); }
  EXPECT_EQ(keys.size(), 0u);
  EXPECT_EQ(keys.with_deadline(), 0u);
  keys.AdvanceTo(Millis(10));
  EXPECT_EQ(keys.FirstDue(), nullptr);
}

TEST(Keyspace, TwoCanBeSwapped) {
  Keyspace one(kHashSeed);
  Keyspace other(kHashSeed + 1);
  Entry& in_one = PutUntil(one, "one", Millis(10));
  Put(other, "other");
  std::swap(one, other);
  EXPECT_EQ(other.Find("one"), &in_one);
  EXPECT_NE(one.Find("other"), nullptr);
  EXPECT_EQ(one.with_deadline(), 0u);
  other.AdvanceTo(Millis(10));
  EXPECT_EQ(other.FirstDue(), &in_one);
}

TEST(Keyspace, ListsTheKeysOfASlot) {
  Keyspace keys(kHashSeed, KeyArrangement::kBySlot);
  for (int i = 0; i < 100; ++i) {
    Put(keys, "{tag}" + std::to_string(i));
    Put(keys, "key:" + std::to_string(i));
  }
  std::set<std::string> found;
  keys.VisitInSlot(KeySlot("tag"), 100, [&](const Entry& entry) { found.emplace(entry.key()); });
  EXPECT_EQ(found.size(), 100u);
  EXPECT_EQ(keys.CountInSlot(KeySlot("tag")), 100u);
  for (const std::string& key : found) keys.Extract(*keys.FindEvenDue(key));
  EXPECT_EQ(keys.CountInSlot(KeySlot("tag")), 0u);
  EXPECT_EQ(keys.size(), 100u);
}

TEST(Keyspace, HidesTheKeysOfSlots) {
  Keyspace keys(kHashSeed, KeyArrangement::kBySlot);
  Rng rng(1);
  for (int i = 0; i < 100; ++i) Put(keys, "{hidden}" + std::to_string(i));
  Keyspace::SlotFlags hidden;
  hidden.set(KeySlot("{hidden}"));
  keys.set_hidden_slots(&hidden);
  EXPECT_EQ(keys.size(), 100u);
  EXPECT_EQ(keys.visible_size(), 0u);
  EXPECT_EQ(keys.Random(rng), nullptr);
  Put(keys, "visible");
  EXPECT_EQ(keys.visible_size(), 1u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(keys.Random(rng)->key(), "visible");
  EXPECT_TRUE(keys.IsHidden(*keys.Find("{hidden}7")));
  Keyspace other(kHashSeed, KeyArrangement::kBySlot);
  keys = std::move(other);
  Put(keys, "{hidden}");
  EXPECT_EQ(keys.visible_size(), 0u) << "other contents have the same hidden slots";
  keys.set_hidden_slots(nullptr);
  EXPECT_EQ(keys.visible_size(), 1u);
}

TEST(Keyspace, DueEntriesOfHiddenSlotsAreSetAside) {
  Keyspace keys(kHashSeed, KeyArrangement::kBySlot);
  Keyspace::SlotFlags hidden;
  hidden.set(KeySlot("{hidden}"));
  keys.set_hidden_slots(&hidden);
  PutUntil(keys, "{hidden}a", Millis(10));
  PutUntil(keys, "{hidden}b", Millis(20));
  PutUntil(keys, "{hidden}c", Millis(30));
  PutUntil(keys, "visible", Millis(40));
  keys.AdvanceTo(Millis(30));
  while (Entry* const entry = keys.FirstDue()) keys.SetAsideDue(*entry);
  EXPECT_EQ(keys.NextDeadline(), Millis(40));
  EXPECT_EQ(keys.with_deadline(), 4u);
  EXPECT_EQ(keys.Find("{hidden}b"), nullptr) << "it is still due";
  keys.Extract(*keys.FindEvenDue("{hidden}a"));
  keys.SetDeadline(*keys.FindEvenDue("{hidden}b"), Millis(50));
  EXPECT_EQ(keys.with_deadline(), 3u);
  keys.set_hidden_slots(nullptr);
  EXPECT_EQ(keys.NextDeadline(), Millis(30));
  EXPECT_EQ(keys.FirstDue()->key(), "{hidden}c");
}

TEST(Keyspace, CountsTheBytesOfItsIndexes) {
  Keyspace keys(kHashSeed);
  const size_t empty = keys.OverheadBytes();
  for (int i = 0; i < 1'000; ++i) Put(keys, std::to_string(i));
  const size_t filled = keys.OverheadBytes();
  EXPECT_GE(filled, empty + 1'000 * sizeof(Entry*));
  for (int i = 0; i < 1'000; ++i) {
    keys.SetDeadline(*keys.FindEvenDue(std::to_string(i)), Millis(1 + i));
  }
  constexpr size_t kPlaceBytes = 12;
  EXPECT_GE(keys.OverheadBytes(), filled + 1'000 * kPlaceBytes);
}

TEST(Keyspace, KeysTogetherCostWhatTheKeyspaceCosts) {
  Keyspace keys(kHashSeed);
  for (int i = 0; i < 20'000; ++i) {
    const auto deadline = i % 2 == 0 ? std::optional(Millis(1 + i)) : std::nullopt;
    Put(keys, std::to_string(i), std::string(i % 100, 'x'), deadline);
  }
  size_t all = keys.OverheadBytes();
  size_t each = 0;
  keys.ForEach([&](const Entry& entry) {
    all += entry.BytesUsed();
    each += keys.BytesUsedBy(entry);
  });
  EXPECT_NEAR(each, all, 8'192) << "but for a last segment of buckets and the directory";
}

// A keyspace compared with a plain map while time advances. Entries are reclaimed late and only
// occasionally, as by a tick that exhausts its budget.
class KeyspaceBesideAMap : public testing::TestWithParam<std::tuple<uint64_t, KeyArrangement>> {
 protected:
  struct Expected {
    std::string text;
    std::optional<Millis> deadline;
  };

  void Step() {
    const std::string key = std::to_string(rng.Below(300));
    Entry* entry = keys.FindEvenDue(key);
    if (entry != nullptr && keys.IsDue(*entry)) {
      keys.Extract(*entry);
      entry = nullptr;
    }
    ASSERT_EQ(entry != nullptr, model.contains(key));
    switch (rng.Below(6)) {
      case 0:
      case 1:
        return Put(key, entry);
      case 2:
        if (entry != nullptr) Erase(key, *entry);
        return;
      case 3:
        if (entry != nullptr) SetDeadline(key, *entry);
        return;
      case 4:
        return AdvanceTo(now + Millis(rng.Below(20)));
      default:
        return Reclaim();
    }
  }

  void Put(const std::string& key, Entry* old) {
    const std::string text = std::to_string(rng.Next());
    auto fresh = Entry::Make(key, ByteString(text));
    old == nullptr ? void(keys.Insert(std::move(fresh)))
                   : void(keys.Replace(*old, std::move(fresh)));
    model[key] = {text, std::nullopt};
  }

  void Erase(const std::string& key, Entry& entry) {
    keys.Extract(entry);
    model.erase(key);
  }

  void SetDeadline(const std::string& key, Entry& entry) {
    std::optional<Millis> deadline;
    if (rng.Below(4) > 0) deadline = now + Millis(1 + rng.Below(1'000));
    keys.SetDeadline(entry, deadline);
    model[key].deadline = deadline;
  }

  void AdvanceTo(Millis instant) {
    now = instant;
    keys.AdvanceTo(now);
    std::erase_if(model, [&](const auto& pair) {
      return pair.second.deadline && *pair.second.deadline <= now;
    });
  }

  void Reclaim() {
    for (int i = 0; i < 3; ++i) {
      Entry* due = keys.FirstDue();
      if (due == nullptr) return;
      ASSERT_FALSE(model.contains(std::string(due->key())));
      ASSERT_EQ(keys.FindEvenDue(due->key()), due);
      keys.Extract(*due);
    }
  }

  void ExpectSame() {
    std::map<std::string, Expected> rest = model;
    keys.ForEach([&](const Entry& entry) {
      const auto expected = rest.extract(std::string(entry.key()));
      ASSERT_FALSE(expected.empty()) << entry.key();
      EXPECT_EQ(TextOf(entry), expected.mapped().text);
      EXPECT_EQ(entry.deadline(), expected.mapped().deadline);
    });
    EXPECT_TRUE(rest.empty());
    EXPECT_EQ(ScannedKeys(keys).size(), model.size());
    EXPECT_GE(keys.size(), model.size());
    const Entry* any = keys.Random(rng);
    ASSERT_EQ(any == nullptr, model.empty());
    if (any == nullptr) return;
    EXPECT_TRUE(model.contains(std::string(any->key())));
  }

  Rng rng{std::get<0>(GetParam())};
  Keyspace keys{kHashSeed, std::get<1>(GetParam())};
  std::map<std::string, Expected> model;
  Millis now{0};
};

TEST_P(KeyspaceBesideAMap, BehavesLikeTheMap) {
  SCOPED_TRACE(std::get<0>(GetParam()));
  for (int step = 0; step < 10'000; ++step) {
    ASSERT_NO_FATAL_FAILURE(Step());
    if (step % 20 != 0) continue;
    ASSERT_NO_FATAL_FAILURE(ExpectSame());
  }
  AdvanceTo(now + Millis(1'000));
  while (Entry* due = keys.FirstDue()) keys.Extract(*due);
  EXPECT_EQ(keys.size(), model.size());
  EXPECT_EQ(keys.with_deadline(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, KeyspaceBesideAMap,
                         testing::Combine(testing::Range<uint64_t>(1, 5),
                                          testing::Values(KeyArrangement::kWhole,
                                                          KeyArrangement::kBySlot)));

}  // namespace
}  // namespace zsetd::keyspace_test
