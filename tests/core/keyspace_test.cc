#include "core/keyspace.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace zsetd {
namespace {

constexpr uint64_t kHashSeed = 99;

Value StringOf(std::string_view bytes) { return ByteString(bytes); }

std::string_view TextOf(const Entry& entry) { return std::get<ByteString>(entry.value).view(); }

Entry& PutUntil(Keyspace& keys, std::string_view key, Millis deadline) {
  Entry& entry = keys.Put(key, StringOf("value"));
  keys.SetDeadline(entry, deadline);
  return entry;
}

std::set<std::string> ScannedKeys(const Keyspace& keys) {
  std::set<std::string> found;
  uint64_t cursor = 0;
  do {
    cursor = keys.Scan(cursor, [&](const Entry& entry) { found.emplace(entry.key()); });
  } while (cursor != 0);
  return found;
}

TEST(Keyspace, FindsWhatWasPut) {
  Keyspace keys(kHashSeed);
  EXPECT_EQ(keys.Find("k"), nullptr);
  Entry& entry = keys.Put("k", StringOf("v"));
  EXPECT_EQ(keys.Find("k"), &entry);
  EXPECT_EQ(std::as_const(keys).Find("k"), &entry);
  EXPECT_EQ(entry.key(), "k");
  EXPECT_EQ(TextOf(entry), "v");
  keys.Extract(entry);
  EXPECT_EQ(keys.Find("k"), nullptr);
  EXPECT_EQ(keys.size(), 0u);
}

TEST(Keyspace, PutReplacesValueAndDeadline) {
  Keyspace keys(kHashSeed);
  PutUntil(keys, "k", Millis(10));
  keys.Put("k", List());
  EXPECT_TRUE(std::holds_alternative<List>(keys.Find("k")->value));
  EXPECT_EQ(keys.Find("k")->deadline(), std::nullopt);
  EXPECT_EQ(keys.size(), 1u);
  EXPECT_EQ(keys.with_deadline(), 0u);
}

TEST(Keyspace, NothingIsSeenOnceItIsDue) {
  Keyspace keys(kHashSeed);
  Rng rng(1);
  Entry& entry = PutUntil(keys, "k", Millis(10));
  keys.AdvanceTo(Millis(9));
  EXPECT_EQ(keys.Find("k"), &entry);
  EXPECT_EQ(keys.FindDue("k"), nullptr);
  EXPECT_EQ(keys.FirstDue(), nullptr);
  EXPECT_EQ(keys.Random(rng), &entry);

  keys.AdvanceTo(Millis(10));
  EXPECT_EQ(keys.Find("k"), nullptr);
  EXPECT_EQ(std::as_const(keys).Find("k"), nullptr);
  EXPECT_EQ(keys.FindDue("k"), &entry);
  EXPECT_EQ(keys.FirstDue(), &entry);
  EXPECT_EQ(keys.Random(rng), nullptr);
  EXPECT_TRUE(ScannedKeys(keys).empty());
  keys.ForEach([](const Entry&) { FAIL(); });
}

TEST(Keyspace, PutOverADueKeyMakesANewOne) {
  Keyspace keys(kHashSeed);
  PutUntil(keys, "k", Millis(10));
  keys.AdvanceTo(Millis(10));
  keys.Put("k", StringOf("new"));
  EXPECT_EQ(TextOf(*keys.Find("k")), "new");
  EXPECT_EQ(keys.FirstDue(), nullptr);
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

TEST(Keyspace, RandomFindsTheOneThatIsNotDue) {
  Keyspace keys(kHashSeed);
  Rng rng(1);
  for (int i = 0; i < 10'000; ++i) PutUntil(keys, std::to_string(i), Millis(10));
  Entry& lasting = keys.Put("lasting", StringOf(""));
  keys.AdvanceTo(Millis(10));
  EXPECT_EQ(keys.Random(rng), &lasting);
  keys.SetDeadline(lasting, Millis(20));
  EXPECT_EQ(keys.Random(rng), &lasting);
  keys.AdvanceTo(Millis(20));
  EXPECT_EQ(keys.Random(rng), nullptr);
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
  other.Put("other", StringOf(""));
  std::swap(one, other);
  EXPECT_EQ(other.Find("one"), &in_one);
  EXPECT_NE(one.Find("other"), nullptr);
  EXPECT_EQ(one.with_deadline(), 0u);
  other.AdvanceTo(Millis(10));
  EXPECT_EQ(other.FirstDue(), &in_one);
}

TEST(Keyspace, CountsTheBytesOfItsIndexes) {
  Keyspace keys(kHashSeed);
  const size_t empty = keys.OverheadBytes();
  for (int i = 0; i < 1'000; ++i) keys.Put(std::to_string(i), StringOf(""));
  const size_t filled = keys.OverheadBytes();
  EXPECT_GE(filled, empty + 1'000 * sizeof(Entry*));
  for (int i = 0; i < 1'000; ++i) keys.SetDeadline(*keys.Find(std::to_string(i)), Millis(i));
  constexpr size_t kPlaceBytes = 12;
  EXPECT_GE(keys.OverheadBytes(), filled + 1'000 * kPlaceBytes);
}

TEST(Keyspace, KeysTogetherCostWhatTheKeyspaceCosts) {
  Keyspace keys(kHashSeed);
  for (int i = 0; i < 20'000; ++i) {
    Entry& entry = keys.Put(std::to_string(i), StringOf(std::string(i % 100, 'x')));
    if (i % 2 == 0) keys.SetDeadline(entry, Millis(1 + i));
  }
  size_t all = keys.OverheadBytes();
  size_t each = 0;
  keys.ForEach([&](const Entry& entry) {
    all += entry.BytesUsed();
    each += keys.BytesUsedBy(entry);
  });
  EXPECT_NEAR(each, all, 8'192) << "but for a last segment of buckets and the directory";
}

// A keyspace beside a plain map, time moving. Reclaiming comes late and only at times, as it does
// when a tick runs out of its budget.
class KeyspaceBesideAMap : public testing::TestWithParam<uint64_t> {
 protected:
  struct Expected {
    std::string text;
    std::optional<Millis> deadline;
  };

  void Step() {
    const std::string key = std::to_string(rng.Below(300));
    Entry* entry = keys.Find(key);
    ASSERT_EQ(entry != nullptr, model.contains(key));
    switch (rng.Below(6)) {
      case 0:
      case 1:
        return Put(key);
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

  void Put(const std::string& key) {
    const std::string text = std::to_string(rng.Next());
    keys.Put(key, StringOf(text));
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
      ASSERT_EQ(keys.FindDue(due->key()), due);
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

  Rng rng{GetParam()};
  Keyspace keys{kHashSeed};
  std::map<std::string, Expected> model;
  Millis now{0};
};

TEST_P(KeyspaceBesideAMap, BehavesTheSame) {
  SCOPED_TRACE(GetParam());
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

INSTANTIATE_TEST_SUITE_P(Seeds, KeyspaceBesideAMap, testing::Range<uint64_t>(1, 5));

}  // namespace
}  // namespace zsetd
