#include "server/engine/command/request_keys.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace zsetd::request_keys_test {
namespace {

using Positions = std::vector<size_t>;
using Words = std::vector<std::string_view>;

constexpr std::string_view kStoreOptions[] = {"STORE", "STOREDIST"};
constexpr std::string_view kStoreOption[] = {"STORE"};
constexpr ValuedOption kLimit[] = {{"LIMIT", 2}};

Positions Find(const KeyPlaces& places, const Words& words) {
  Positions positions;
  const Command row = {.name = "x", .keys = places};
  const RequestKeys keys = FindKeys(row, words);
  for (const size_t position : keys) positions.push_back(position);
  EXPECT_EQ(keys.Count(), positions.size());
  EXPECT_EQ(keys.empty(), positions.empty());
  return positions;
}

TEST(RequestKeys, AreAtFixedPositions) {
  EXPECT_EQ(Find(kNoKeys, {"PING"}), Positions());
  EXPECT_EQ(Find(kOneKey, {"GET", "a"}), Positions({1}));
  EXPECT_EQ(Find(kTwoKeys, {"RENAME", "a", "b"}), Positions({1, 2}));
  EXPECT_EQ(Find(kAllKeys, {"DEL", "a", "b", "c"}), Positions({1, 2, 3}));
  EXPECT_EQ(Find(kEveryOtherKey, {"MSET", "a", "1", "b", "2"}), Positions({1, 3}));
  EXPECT_EQ(Find({1, -2, 1}, {"BLPOP", "a", "b", "0"}), Positions({1, 2}));
}

TEST(RequestKeys, OfAShortRequestAreThoseThatItHas) {
  EXPECT_EQ(Find(kOneKey, {"GET"}), Positions());
  EXPECT_EQ(Find(kTwoKeys, {"RENAME", "a"}), Positions({1}));
  EXPECT_EQ(Find({1, -2, 1}, {"BLPOP"}), Positions());
  EXPECT_EQ(Find({.count_at = 2}, {"EVAL", "script"}), Positions());
}

TEST(RequestKeys, FollowTheirCount) {
  const KeyPlaces places = {.first = 1, .last = 1, .step = 1, .count_at = 2};
  EXPECT_EQ(Find(places, {"ZUNIONSTORE", "d", "2", "a", "b", "WEIGHTS"}), Positions({1, 3, 4}));
}

TEST(RequestKeys, AreNoneIfTheCountIsInvalid) {
  const KeyPlaces places = {.first = 1, .last = 1, .step = 1, .count_at = 2};
  for (const std::string_view count : {"0", "-1", "3", "x", "", "9223372036854775807"}) {
    EXPECT_EQ(Find(places, {"ZUNIONSTORE", "d", count, "a", "b"}), Positions()) << count;
  }
}

TEST(RequestKeys, FollowEachOfARepeatedOption) {
  const KeyPlaces places = {
      .first = 1, .last = 1, .step = 1, .options = kStoreOptions, .options_from = 2};
  EXPECT_EQ(Find(places, {"GEO", "k", "STOREDIST", "a", "store", "b", "STORE", "c", "STORE"}),
            Positions({1, 5, 7, 3}));
  EXPECT_EQ(Find(places, {"GEO", "k", "STORE", "STORE", "b"}), Positions({1, 3, 4}));
}

TEST(RequestKeys, FollowTheLastOptionIfTheValuesOfOthersAreSkipped) {
  const KeyPlaces places = {.first = 1,
                            .last = 1,
                            .step = 1,
                            .options = kStoreOption,
                            .options_from = 2,
                            .other_options = kLimit};
  EXPECT_EQ(Find(places, {"SORT", "k", "STORE", "a", "STORE", "b"}), Positions({1, 5}));
  EXPECT_EQ(Find(places, {"SORT", "k", "LIMIT", "STORE", "a", "b"}), Positions({1}));
}

TEST(RequestKeys, FollowTheOptionForTheRest) {
  const KeyPlaces places = {
      .first = 1, .last = 1, .step = 1, .options_from = 2, .rest_option = "KEYS"};
  EXPECT_EQ(Find(places, {"MIGRATE", "", "KEYS", "a", "b"}), Positions({3, 4}));
  EXPECT_EQ(Find(places, {"MIGRATE", "k", "KEYS", "a", "b"}), Positions());
  EXPECT_EQ(Find(places, {"MIGRATE", "k", "COPY"}), Positions({1}));
}

// XREAD STREAMS key... id...
TEST(RequestKeys, AreTheFirstPartOfADividedRest) {
  const KeyPlaces places = {.options_from = 1, .rest_option = "STREAMS", .rest_divisor = 2};
  EXPECT_EQ(Find(places, {"XREAD", "STREAMS", "a", "b", "0", "0"}), Positions({2, 3}));
  EXPECT_EQ(Find(places, {"XREAD", "STREAMS", "a", "b", "0"}), Positions());
  EXPECT_EQ(Find(places, {"XREAD", "STREAMS"}), Positions());
}

TEST(RequestKeys, AreNotShardChannels) {
  EXPECT_EQ(Find(kShardChannels, {"SSUBSCRIBE", "a", "b"}), Positions());
}

TEST(RequestKeys, CanBeMany) {
  const Words words(1'000'001, "k");
  EXPECT_EQ(Find(kAllKeys, words).size(), 1'000'000u);
}

}  // namespace
}  // namespace zsetd::request_keys_test
