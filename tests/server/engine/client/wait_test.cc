// Each kind of wait is served, due and given up as its command requires.
#include "server/engine/client/wait.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "core/keyspace/keyspace.h"
#include "core/keyspace/value.h"
#include "core/list/list.h"
#include "protocol/resp/output_buffer.h"
#include "protocol/resp/reply_writer.h"
#include "server/engine/client/acknowledgement_wait.h"
#include "server/engine/client/client.h"
#include "server/engine/client/key_wait.h"
#include "server/engine/client/score_wait.h"
#include "server/engine/services/no_services.h"
#include "server/engine/services/services.h"

namespace zsetd::wait_test {
namespace {

constexpr Millis kNow{10'000};

std::string GivenUp(const Wait& wait) {
  OutputBuffer buffer;
  ReplyWriter reply(buffer);
  wait.GiveUp(reply);
  return std::string(buffer.view());
}

const Entry& ListIn(Keyspace& keys) {
  List list;
  list.PushBack("x");
  return keys.Insert(Entry::Make("list", std::move(list)));
}

const Entry& SetIn(Keyspace& keys, double score) {
  SortedSet set;
  set.Set("m", score);
  return keys.Insert(Entry::Make("set", std::move(set)));
}

TEST(KeyWait, IsServedByItsTypeOnly) {
  Keyspace keys(1);
  const Entry& list = ListIn(keys);
  const Entry& set = SetIn(keys, 1);
  EXPECT_TRUE(KeyWait<List>().CanServe("list", list, kNow));
  EXPECT_FALSE(KeyWait<List>().CanServe("set", set, kNow));
  EXPECT_TRUE(KeyWait<SortedSet>().CanServe("set", set, kNow));
  EXPECT_FALSE(KeyWait<List>().NextDue(set, kNow).has_value());
  EXPECT_EQ(KeyWait<List>().scores(), nullptr);
  EXPECT_EQ(GivenUp(KeyWait<List>()), "*-1\r\n");
}

TEST(ScoreWait, IsServedByAnElementInTheRange) {
  Keyspace keys(1);
  const Entry& set = SetIn(keys, 5);
  const ScoreWait wait({.min = {.score = 4}, .max = {.score = 6}});
  const ScoreWait later({.min = {.score = 6}, .max = {.score = 7}});
  EXPECT_TRUE(wait.CanServe("set", set, kNow));
  EXPECT_FALSE(later.CanServe("set", set, kNow));
  EXPECT_FALSE(later.NextDue(set, kNow).has_value());
  EXPECT_FALSE(wait.CanServe("list", ListIn(keys), kNow));
  ASSERT_NE(wait.scores(), nullptr);
  EXPECT_EQ(wait.scores()->max.score, 6);
  EXPECT_EQ(GivenUp(wait), "*-1\r\n");
}

TEST(ScoreWait, IsDueWhenTheTimeReachesAnElement) {
  Keyspace keys(1);
  const Entry& set = SetIn(keys, 10'250);
  const ScoreWait wait({.min = {.score = 0}, .max = {.clock = TimedScoreBound::Clock::kMillis}});
  EXPECT_FALSE(wait.CanServe("set", set, kNow));
  EXPECT_EQ(wait.NextDue(set, kNow), Millis(10'250));
  EXPECT_TRUE(wait.CanServe("set", set, Millis(10'250)));
}

// Two replicas, which have acknowledged everything up to an offset.
class TwoReplicas : public NoReplicas {
 public:
  int64_t CountAcknowledged(int64_t offset) const override {
    return offset <= acknowledged ? 2 : 0;
  }

  int64_t acknowledged = 0;
};

class CountingWait : public AcknowledgementWait {
 public:
  using AcknowledgementWait::AcknowledgementWait;

 private:
  void Reply(ReplyWriter& reply, const Acknowledgements& reached) const override {
    reply.Integer(reached.replicas);
  }
};

TEST(AcknowledgementWait, EndsWhenEnoughReplicasHaveAcknowledged) {
  Client client(1, "127.0.0.1:50000", "127.0.0.1:6379", kNow, [] {});
  client.streamed_until = 100;
  TwoReplicas replicas;
  Services services;
  const Installation installation = services.replicas.Install(replicas);
  const CountingWait wait(client, services, {.replicas = 2});
  EXPECT_TRUE(wait.AwaitsAcknowledgements());
  EXPECT_FALSE(wait.IsAcknowledged());
  EXPECT_EQ(GivenUp(wait), ":0\r\n");
  replicas.acknowledged = 100;
  EXPECT_TRUE(wait.IsAcknowledged());
  EXPECT_EQ(GivenUp(wait), ":2\r\n");
  const CountingWait for_more(client, services, {.replicas = 3});
  EXPECT_FALSE(for_more.IsAcknowledged());
}

// The log was switched off during the wait.
TEST(AcknowledgementWait, ForTheLogEndsWithAnErrorWithoutALog) {
  const Client client(1, "127.0.0.1:50000", "127.0.0.1:6379", kNow, [] {});
  const Services services;
  EXPECT_EQ(AcknowledgementsOf(client, services).own_logs, 0);
  const CountingWait wait(client, services, {.own_logs = 1});
  EXPECT_TRUE(wait.IsAcknowledged());
  EXPECT_EQ(GivenUp(wait),
            "-ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.\r\n");
}

}  // namespace
}  // namespace zsetd::wait_test
