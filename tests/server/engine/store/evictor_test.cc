#include "server/engine/store/evictor.h"

#include <gtest/gtest.h>

#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/hashing/key_slot.h"
#include "core/keyspace/value.h"

namespace zsetd::evictor_test {
namespace {

constexpr Millis kStart{1'800'000'000'000};
constexpr size_t kSamples = 5;

// Databases whose keys are used one at a time, a second apart. Keys are evicted when there are too
// many.
class EvictorTest : public testing::Test {
 protected:
  EvictorTest() {
    for (int index = 0; index < 2; ++index) {
      databases_.push_back(std::make_unique<Database>(
          index, /*hash_seed=*/3, [](const Change&) {}, nullptr, &meter_));
    }
    Pass(Millis(0));
  }

  using Databases = std::vector<std::unique_ptr<Database>>;
  Databases DatabasesBySlot() {
    Databases databases;
    for (int index = 0; index < 2; ++index) {
      databases.push_back(std::make_unique<Database>(
          index, /*hash_seed=*/3, [](const Change&) {}, nullptr, &meter_, KeyArrangement::kBySlot));
      databases.back()->AdvanceTo(now_);
    }
    return databases;
  }

  void Pass(Millis time) {
    now_ += time;
    meter_.AdvanceTo(now_);
    for (const auto& database : databases_) database->AdvanceTo(now_);
  }
  void Put(const std::string& key, std::optional<Millis> deadline = std::nullopt) {
    databases_[0]->Put(key, ByteString("value"), KeyEvent::kSet, deadline);
  }
  std::optional<Evictor::Victim> Choose(MaxmemoryPolicy policy) {
    return evictor_.Choose(EvictionPolicy::Of(policy), kSamples, databases_);
  }
  std::string Evict(MaxmemoryPolicy policy) {
    const auto victim = Choose(policy);
    if (!victim) return "nothing";
    databases_[victim->database]->Evict(victim->key);
    return victim->key;
  }
  bool Holds(const std::string& key) { return databases_[0]->Find(key) != nullptr; }

  // Uses the key as a cache does: adds it if it is missing, and evicts others. Returns true if it
  // existed.
  bool UseInCache(const std::string& key, size_t most, MaxmemoryPolicy policy) {
    Pass(Millis(1000));
    if (databases_[0]->Use(key) != nullptr) return true;
    Put(key);
    while (databases_[0]->keys().size() > most) Evict(policy);
    return false;
  }

  Rng rng_{1};
  AccessTracker meter_{rng_};
  Evictor evictor_{meter_, rng_};
  Millis now_ = kStart;
  Databases databases_;
};

// The model: evicts exactly the least recently used key.
class ExactCache {
 public:
  explicit ExactCache(size_t most) : most_(most) {}

  bool Use(const std::string& key) {
    const auto found = places_.find(key);
    const bool was_there = found != places_.end();
    if (was_there) order_.erase(found->second);
    order_.push_front(key);
    places_[key] = order_.begin();
    if (order_.size() > most_) {
      places_.erase(order_.back());
      order_.pop_back();
    }
    return was_there;
  }

 private:
  size_t most_;
  std::list<std::string> order_;  // most recently used first
  std::map<std::string, std::list<std::string>::iterator> places_;
};

// Low numbers are frequent: the third power of a uniform number.
std::string SkewedKey(Rng& rng) {
  const double chance = static_cast<double>(rng.Below(1'000'000)) / 1'000'000;
  return std::to_string(static_cast<int>(5'000 * chance * chance * chance));
}

TEST_F(EvictorTest, HitsNearlyAsOftenAsExactLru) {
  constexpr size_t kMost = 500;
  Rng keys(2);
  ExactCache model(kMost);
  std::map<std::string_view, int> hits;
  for (int step = 0; step < 30'000; ++step) {
    const std::string key = SkewedKey(keys);
    hits["exact"] += model.Use(key);
    hits["sampled"] += UseInCache(key, kMost, MaxmemoryPolicy::kAllKeysLru);
  }
  EXPECT_GT(hits["sampled"], hits["exact"] * 0.98) << hits["exact"];
}

TEST_F(EvictorTest, TheMostRecentlyUsedKeyStays) {
  constexpr int kKeys = 1'000;
  for (int i = 0; i < kKeys; ++i) {
    Pass(Millis(1000));
    Put(std::to_string(i));
  }
  for (int i = 0; i < kKeys / 2; ++i) Evict(MaxmemoryPolicy::kAllKeysLru);
  int of_newest_quarter = 0;
  for (int i = kKeys * 3 / 4; i < kKeys; ++i) of_newest_quarter += Holds(std::to_string(i));
  EXPECT_GE(of_newest_quarter, 249) << "of 250";
}

TEST_F(EvictorTest, FrequentlyUsedKeysSurviveAFloodOfKeysUsedOnce) {
  constexpr size_t kMost = 500;
  meter_.set_rule({.lfu = true});
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 100; ++i) {
      if (databases_[0]->Use("hot" + std::to_string(i)) == nullptr) Put("hot" + std::to_string(i));
    }
  }
  for (int i = 0; i < 5'000; ++i) {
    Put(std::to_string(i));
    while (databases_[0]->keys().size() > kMost) Evict(MaxmemoryPolicy::kAllKeysLfu);
  }
  int hot = 0;
  for (int i = 0; i < 100; ++i) hot += Holds("hot" + std::to_string(i));
  EXPECT_GE(hot, 95);
}

TEST_F(EvictorTest, AKeyUsedSinceItWasSampledIsNoCandidate) {
  for (int i = 0; i < 10; ++i) {
    Pass(Millis(1000));
    Put(std::to_string(i));
  }
  for (int i = 0; i < 8; ++i)
    Choose(MaxmemoryPolicy::kAllKeysLru);  // the pool has seen most of them
  Pass(Millis(1000));
  for (int i = 0; i < 9; ++i) databases_[0]->Use(std::to_string(i));
  EXPECT_EQ(Evict(MaxmemoryPolicy::kAllKeysLru), "9");
}

TEST_F(EvictorTest, TheEarliestDeadlineIsEvictedFirst) {
  Rng rng(4);
  std::multimap<Millis, std::string> expected;
  for (int i = 0; i < 300; ++i) {
    const Millis deadline = now_ + Millis(1 + rng.Below(1'000'000'000));
    expected.emplace(deadline, std::to_string(i));
    Put(std::to_string(i), deadline);
    Put("lasting" + std::to_string(i));
  }
  for (const auto& [deadline, key] : expected) ASSERT_EQ(Evict(MaxmemoryPolicy::kVolatileTtl), key);
  EXPECT_EQ(Choose(MaxmemoryPolicy::kVolatileTtl), std::nullopt);
}

// A key that is evicted comes back as the newest of its chain.
TEST_F(EvictorTest, RandomPoliciesEvictAllKeysEquallyOften) {
  constexpr int kKeys = 400;
  constexpr int kTimes = 40;
  for (const MaxmemoryPolicy policy :
       {MaxmemoryPolicy::kAllKeysRandom, MaxmemoryPolicy::kVolatileRandom}) {
    for (int i = 0; i < kKeys; ++i) Put(std::to_string(i), now_ + Millis(1000));
    std::map<std::string, int> times;
    for (int i = 0; i < kKeys * kTimes; ++i) {
      const std::string key = Evict(policy);
      ++times[key];
      Put(key, now_ + Millis(1000));
    }
    EXPECT_EQ(times.size(), size_t{kKeys}) << ChoiceName(policy);
    double squares = 0;
    for (const auto& [key, count] : times) squares += (count - kTimes) * (count - kTimes);
    // Five standard deviations of the variance in either direction.
    EXPECT_NEAR(squares / kKeys / kTimes, 1, 0.35) << ChoiceName(policy);
  }
}

// The looks take turns, so hidden keys in one database do not protect those of the other.
TEST_F(EvictorTest, FindsVisibleKeysAmongHiddenOnes) {
  Keyspace::SlotFlags hidden;
  const Databases by_slot = DatabasesBySlot();
  for (int i = 0; i < 50; ++i) {
    const std::string key = "{hidden}" + std::to_string(i);
    by_slot[0]->Put(key, ByteString("v"), KeyEvent::kSet, now_ + Millis(1000));
  }
  by_slot[1]->Put("visible", ByteString("v"), KeyEvent::kSet, now_ + Millis(1000));
  hidden.set(KeySlot("{hidden}"));
  for (const auto& database : by_slot) database->set_hidden_slots(&hidden);
  for (const MaxmemoryPolicy policy :
       {MaxmemoryPolicy::kAllKeysRandom, MaxmemoryPolicy::kVolatileRandom,
        MaxmemoryPolicy::kAllKeysLru, MaxmemoryPolicy::kVolatileTtl}) {
    const auto victim = evictor_.Choose(EvictionPolicy::Of(policy), kSamples, by_slot);
    ASSERT_TRUE(victim) << ChoiceName(policy);
    EXPECT_EQ(victim->key, "visible") << ChoiceName(policy);
  }
  by_slot[1]->Evict("visible");
  for (const MaxmemoryPolicy policy :
       {MaxmemoryPolicy::kAllKeysRandom, MaxmemoryPolicy::kVolatileRandom}) {
    EXPECT_EQ(evictor_.Choose(EvictionPolicy::Of(policy), kSamples, by_slot), std::nullopt);
  }
}

// Many keys with a deadline among keys without, or few: this covers both ways of finding them.
TEST_F(EvictorTest, VolatilePoliciesSpareKeysWithoutADeadline) {
  for (const int lasting : {30, 3'000}) {
    for (int i = 0; i < lasting; ++i) Put("lasting" + std::to_string(i));
    for (const MaxmemoryPolicy policy :
         {MaxmemoryPolicy::kVolatileLru, MaxmemoryPolicy::kVolatileLfu,
          MaxmemoryPolicy::kVolatileRandom}) {
      std::set<std::string> left;
      for (int i = 0; i < 100; ++i) {
        Put(std::to_string(i), now_ + Millis(1000));
        left.insert(std::to_string(i));
      }
      while (!left.empty()) ASSERT_EQ(left.erase(Evict(policy)), 1u) << ChoiceName(policy);
      ASSERT_EQ(Choose(policy), std::nullopt) << ChoiceName(policy);
    }
  }
}

TEST_F(EvictorTest, EvictsFromEveryDatabase) {
  for (const MaxmemoryPolicy policy : {MaxmemoryPolicy::kAllKeysLru, MaxmemoryPolicy::kAllKeysLfu,
                                       MaxmemoryPolicy::kAllKeysRandom}) {
    for (const auto& database : databases_) {
      for (int i = 0; i < 50; ++i)
        database->Put(std::to_string(i), ByteString("v"), KeyEvent::kSet);
    }
    for (int i = 0; i < 100; ++i) Evict(policy);
    EXPECT_EQ(databases_[0]->keys().size() + databases_[1]->keys().size(), 0u)
        << ChoiceName(policy);
  }
}

TEST_F(EvictorTest, WithoutAPolicyNoKeyIsEvicted) {
  Put("key", now_ + Millis(1000));
  EXPECT_EQ(Choose(MaxmemoryPolicy::kNoEviction), std::nullopt);
}

}  // namespace
}  // namespace zsetd::evictor_test
