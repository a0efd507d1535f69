// The marks of producers behave like a list of the last additions.
#include "core/stream/producers.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/util/rng.h"

namespace zsetd {
namespace {

TEST(Producers, ForgetTheOldestIdsOfAProducer) {
  Producers producers;
  producers.SetLimits({.seconds = 10, .ids = 2});
  producers.Add("p", "a", {1000, 0}, Millis(1000));
  producers.Add("p", "b", {1001, 0}, Millis(1001));
  producers.Add("q", "a", {1002, 0}, Millis(1002));
  producers.Add("p", "c", {1003, 0}, Millis(1003));
  EXPECT_FALSE(producers.Find("p", "a", Millis(1003)));
  EXPECT_EQ(producers.Find("p", "b", Millis(1003)), (StreamId{1001, 0}));
  EXPECT_EQ(producers.Find("q", "a", Millis(1003)), (StreamId{1002, 0}));
  EXPECT_EQ(producers.producer_count(), 2u);
  EXPECT_EQ(producers.id_count(), 3u);
  EXPECT_EQ(producers.counts().added, 4u);
}

TEST(Producers, ForgetExpiredIds) {
  Producers producers;
  producers.SetLimits({.seconds = 1, .ids = 100});
  producers.Add("p", "a", {10'000, 0}, Millis(10'000));
  EXPECT_TRUE(producers.Find("p", "a", Millis(11'000)));
  EXPECT_FALSE(producers.Find("p", "a", Millis(11'001)));
  // Additions of another producer find that it has none any more.
  producers.Add("q", "a", {12'000, 0}, Millis(12'000));
  EXPECT_EQ(producers.producer_count(), 1u);
  EXPECT_EQ(producers.id_count(), 1u);
}

TEST(Producers, ForgetAllWithOtherLimits) {
  Producers producers;
  producers.Add("p", "a", {1, 0}, Millis(1));
  producers.SetLimits(Producers::Limits());
  EXPECT_TRUE(producers.Find("p", "a", Millis(1)));
  producers.SetLimits({.seconds = 5, .ids = 100});
  EXPECT_FALSE(producers.Find("p", "a", Millis(1)));
  EXPECT_EQ(producers.id_count(), 0u);
  EXPECT_EQ(producers.counts().added, 1u);
}

TEST(Producers, EqualAModelAfterRandomAdditions) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  constexpr uint64_t kIds = 7;
  Producers producers;
  producers.SetLimits({.seconds = 1, .ids = kIds});
  std::map<std::string, std::vector<std::pair<std::string, StreamId>>> model;
  uint64_t ms = 5000;
  for (int step = 0; step < 5000; ++step) {
    ms += rng.Below(150);
    const Millis now(static_cast<int64_t>(ms));
    const std::string producer = "p" + std::to_string(rng.Below(5));
    const std::string id = std::to_string(rng.Below(20));
    auto& marks = model[producer];
    std::erase_if(marks, [&](const auto& mark) { return mark.second.ms + 1000 < ms; });
    std::optional<StreamId> expected;
    for (const auto& [name, entry] : marks) {
      if (name == id) expected = entry;
    }
    ASSERT_EQ(producers.Find(producer, id, now), expected);
    if (expected) continue;
    const StreamId entry = {ms, static_cast<uint64_t>(step)};
    producers.Add(producer, id, entry, now);
    marks.emplace_back(id, entry);
    if (marks.size() > kIds) marks.erase(marks.begin());
    const Producers copy(producers);
    ASSERT_EQ(copy.id_count(), producers.id_count());
    ASSERT_EQ(copy.Find(producer, id, now), entry);
  }
}

}  // namespace
}  // namespace zsetd
