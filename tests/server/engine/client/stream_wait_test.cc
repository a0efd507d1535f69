#include "server/engine/client/stream_wait.h"

#include <gtest/gtest.h>

#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/keyspace/entry.h"
#include "core/keyspace/value.h"

namespace zsetd::stream_wait_test {
namespace {

constexpr Millis kNow{1000};

Stream WithEntries(uint64_t count) {
  Stream stream;
  const std::vector<std::string_view> fields = {"f", "v"};
  for (uint64_t ms = 1; ms <= count; ++ms) stream.Append({ms, 0}, fields, StreamLimits());
  return stream;
}

TEST(StreamWait, IsServedByALaterEntryOfItsKey) {
  const StreamWait wait({{"s", StreamId{2, 0}}, {"t", StreamId{9, 0}}}, std::nullopt);
  EXPECT_FALSE(wait.CanServe("s", *Entry::Make("s", WithEntries(2)), kNow));
  EXPECT_TRUE(wait.CanServe("s", *Entry::Make("s", WithEntries(3)), kNow));
  EXPECT_FALSE(wait.CanServe("t", *Entry::Make("t", WithEntries(3)), kNow));
  EXPECT_FALSE(wait.CanServe("s", *Entry::Make("s", List()), kNow));
  EXPECT_FALSE(wait.EndsWithoutKey());
}

TEST(StreamWait, KeyThatOccursTwiceWaitsForTheLeastId) {
  const StreamWait wait(
      {{"t", StreamId{1, 0}}, {"s", StreamId{9, 0}}, {"s", StreamId{2, 0}}, {"s", StreamId{5, 0}}},
      std::nullopt);
  EXPECT_FALSE(wait.CanServe("s", *Entry::Make("s", WithEntries(2)), kNow));
  EXPECT_TRUE(wait.CanServe("s", *Entry::Make("s", WithEntries(3)), kNow));
  EXPECT_FALSE(wait.CanServe("", *Entry::Make("", WithEntries(3)), kNow));
  EXPECT_FALSE(wait.CanServe("u", *Entry::Make("u", WithEntries(3)), kNow));
}

// A client that waits for all streams of a server does not delay those that write to them.
TEST(StreamWait, ChangeOfOneOfManyKeysIsCheap) {
  constexpr size_t kKeys = 40'000;
  std::vector<StreamWait::Position> positions;
  for (size_t i = 0; i < kKeys; ++i) {
    positions.push_back({"stream:with:a:name:" + std::to_string(i), kLastStreamId});
  }
  const StreamWait wait(positions, std::nullopt);
  const auto entry = Entry::Make("s", WithEntries(1));
  const std::clock_t begin = std::clock();
  for (const StreamWait::Position& position : positions) {
    EXPECT_FALSE(wait.CanServe(position.key, *entry, kNow));
  }
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 1);
}

TEST(StreamWait, OfAGroupEndsWithTheGroupAndTheKey) {
  const StreamWait wait({{"s", std::nullopt}}, std::string("g"));
  EXPECT_TRUE(wait.EndsWithoutKey());
  Stream stream = WithEntries(2);
  stream.AddGroup("g", ConsumerGroup({2, 0}, 2));
  EXPECT_FALSE(wait.CanServe("s", *Entry::Make("s", stream.Clone()), kNow));
  stream.ChangeGroup("g")->SetPosition({1, 0}, 1);
  EXPECT_TRUE(wait.CanServe("s", *Entry::Make("s", stream.Clone()), kNow));
  EXPECT_TRUE(wait.CanServe("s", *Entry::Make("s", WithEntries(0)), kNow));
  EXPECT_TRUE(wait.CanServe("s", *Entry::Make("s", List()), kNow));
}

TEST(StreamWait, ForAClaimIsNotServedByTrimmedEntries) {
  const StreamWait wait({{"s", std::nullopt}}, std::string("g"), Millis(100));
  ASSERT_TRUE(wait.IsTimed());
  Stream stream = WithEntries(4);
  stream.AddGroup("g", ConsumerGroup({4, 0}, 4));
  ConsumerGroup& group = *stream.ChangeGroup("g");
  group.AddConsumer("c", kNow);
  group.SetPending({1, 0}, "c", kNow - Millis(100), 1);
  group.SetPending({2, 0}, "c", kNow - Millis(90), 1);
  group.SetPending({4, 0}, "c", kNow - Millis(80), 1);
  EXPECT_TRUE(wait.CanServe("s", *Entry::Make("s", stream.Clone()), kNow));
  stream.Trim({.by = StreamTrim::By::kLength, .length = 2});
  EXPECT_FALSE(wait.CanServe("s", *Entry::Make("s", stream.Clone()), kNow));
  EXPECT_EQ(wait.NextDue(*Entry::Make("s", stream.Clone()), kNow), kNow + Millis(20));
  stream.Trim({.by = StreamTrim::By::kLength, .length = 0});
  EXPECT_FALSE(wait.CanServe("s", *Entry::Make("s", stream.Clone()), kNow + Millis(500)));
  EXPECT_EQ(wait.NextDue(*Entry::Make("s", stream.Clone()), kNow), std::nullopt);
}

TEST(StreamWait, EqualClaimsAreNamedEqually) {
  const StreamWait wait({{"s", std::nullopt}}, std::string("g"), Millis(100));
  const StreamWait equal({{"t", std::nullopt}}, std::string("g"), Millis(100));
  const StreamWait later({{"s", std::nullopt}}, std::string("g"), Millis(101));
  EXPECT_EQ(*wait.claim(), *equal.claim());
  EXPECT_NE(*wait.claim(), *later.claim());
  EXPECT_EQ(StreamWait({{"s", std::nullopt}}, std::string("g")).claim(), nullptr);
}

}  // namespace
}  // namespace zsetd::stream_wait_test
