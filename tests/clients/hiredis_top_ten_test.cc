// The top-ten recipe through hiredis. See top_ten.py for the scenario.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/clients/hiredis_connection.h"

namespace zsetd {
namespace {

constexpr long kBucketTtlS = 179200;
constexpr long kKept = 30;

using Counts = std::map<std::string, long>;

// Adds 1 to the count of a number in a bucket and returns the new score.
using Count = std::function<std::string(const std::string& key, const std::string& number)>;

// Returns the highest counts, lowest first. Equal counts are in the order of the members' bytes.
std::vector<std::pair<long, std::string>> Highest(const Counts& counts, size_t number) {
  std::vector<std::pair<long, std::string>> ranked;
  for (const auto& [member, count] : counts) ranked.emplace_back(count, member);
  std::sort(ranked.begin(), ranked.end());
  if (ranked.size() > number) ranked.erase(ranked.begin(), ranked.end() - number);
  return ranked;
}

// Returns the bucket of an hour, counted from the first of the last 24, such as 20180708_20.
std::string BucketKey(int hour) {
  const std::time_t time = 1530997200 + 3600 * hour;
  char key[16];
  std::strftime(key, sizeof key, "%Y%m%d_%H", std::gmtime(&time));
  return key;
}

// Looks up random numbers in one bucket, trims it, and adds the remaining counts to the total.
void FillBucket(HiredisConnection& redis, std::mt19937& random, const Count& count,
                const std::string& key, Counts& total) {
  Counts counts;
  for (size_t lookups = 60 + random() % 60; lookups > 0; --lookups) {
    const auto number = "555-" + std::to_string(1000 + std::min(random() % 60, random() % 60));
    EXPECT_EQ(count(key, number), std::to_string(++counts[number]));
  }
  const long trimmed = std::max(static_cast<long>(counts.size()) - kKept, 0L);
  EXPECT_EQ(redis.Run("ZREMRANGEBYRANK %s 0 -%ld", key.c_str(), kKept + 1),
            std::to_string(trimmed));
  EXPECT_PRED2(IsFreshTtl, redis.Run("TTL %s", key.c_str()), kBucketTtlS);
  for (const auto& [score, number] : Highest(counts, kKept)) total[number] += score;
}

// Merges the buckets and compares the ten highest, in both directions, with those of the total.
void CheckHighest(HiredisConnection& redis, const std::string& keys, const Counts& total) {
  EXPECT_EQ(redis.Run(("ZUNIONSTORE top 24" + keys).c_str()), std::to_string(total.size()));
  EXPECT_EQ(redis.Run("EXPIRE top 3600"), "1");
  std::string members;
  std::string highest_first;
  for (const auto& [score, member] : Highest(total, 10)) {
    members += " " + member;
    highest_first = " " + member + " " + std::to_string(score) + highest_first;
  }
  EXPECT_EQ(redis.Run("ZRANGE top -10 -1"), "[" + members.substr(1) + "]");
  EXPECT_EQ(redis.Run("ZRANGE top 0 9 REV WITHSCORES"), "[" + highest_first.substr(1) + "]");
}

void CheckTopTen(HiredisConnection& redis, const Count& count) {
  const char* seed_to_repeat = std::getenv("SEED");
  const auto seed = seed_to_repeat ? std::atol(seed_to_repeat) : std::random_device()();
  SCOPED_TRACE("SEED " + std::to_string(seed));
  std::mt19937 random(seed);
  Counts total;
  std::string keys;
  for (int hour = 0; hour < 24; ++hour) {
    FillBucket(redis, random, count, BucketKey(hour), total);
    keys += " " + BucketKey(hour);
  }
  CheckHighest(redis, keys, total);
  EXPECT_EQ(redis.Run(("DEL top" + keys).c_str()), "25");
}

TEST(Recipe, TopTenOfTheLast24HoursInTwoCalls) {
  HiredisConnection redis;
  CheckTopTen(redis, [&](const std::string& key, const std::string& number) {
    const std::string score = redis.Run("ZINCRBY %s 1 %s", key.c_str(), number.c_str());
    EXPECT_EQ(redis.Run("EXPIRE %s %ld", key.c_str(), kBucketTtlS), "1");
    return score;
  });
}

TEST(Recipe, TopTenOfTheLast24HoursInOneCall) {
  if (!IsZsetd()) GTEST_SKIP() << "no other server has it";
  HiredisConnection redis;
  CheckTopTen(redis, [&](const std::string& key, const std::string& number) {
    return redis.Run("ZADD %s 1 %s INCR EX %ld", key.c_str(), number.c_str(), kBucketTtlS);
  });
}

}  // namespace
}  // namespace zsetd
