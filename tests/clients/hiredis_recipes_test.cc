// The recipes through hiredis. with_server sets PORT and SERVER.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <string>

#include "tests/clients/hiredis_connection.h"

namespace zsetd {
namespace {

constexpr long kNow = 1531051200;
constexpr int kRacedTimestamps = 200;

bool WaitUntil(const std::function<bool()>& claim) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!claim()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    usleep(5000);
  }
  return true;
}

std::string View(HiredisConnection& redis, const char* item, long timestamp) {
  redis.Run("MULTI");
  redis.Run("ZADD recent:ann %ld %s", timestamp, item);
  redis.Run("ZREMRANGEBYRANK recent:ann 0 -4");
  redis.Run("EXPIRE recent:ann 60");
  return redis.Run("EXEC");
}

TEST(Recipe, RecencyListKeepsTheLatestAndExpires) {
  HiredisConnection redis;
  EXPECT_EQ(View(redis, "tea", kNow), "[1 0 1]");
  EXPECT_EQ(View(redis, "jam", kNow + 1), "[1 0 1]");
  EXPECT_EQ(View(redis, "rye", kNow + 2), "[1 0 1]");
  EXPECT_EQ(View(redis, "tea", kNow + 3), "[0 0 1]");
  EXPECT_EQ(View(redis, "fig", kNow + 4), "[1 1 1]");
  EXPECT_EQ(redis.Run("ZREVRANGE recent:ann 0 -1"), "[fig tea rye]");
  EXPECT_PRED2(IsFreshTtl, redis.Run("TTL recent:ann"), 60);
  EXPECT_EQ(redis.Run("PEXPIRE recent:ann 20"), "1");
  EXPECT_TRUE(WaitUntil([&] { return redis.Run("EXISTS recent:ann") == "0"; }));
  EXPECT_EQ(redis.Run("ZREVRANGE recent:ann 0 -1"), "[]");
}

TEST(Recipe, ChatListShowsTheLatestMessageOfEachRoom) {
  HiredisConnection redis;
  EXPECT_EQ(redis.Run("MSET chat:work:from bob chat:work:text hello"), "OK");
  EXPECT_EQ(redis.Run("ZADD chats:ann %ld work", kNow), "1");
  EXPECT_EQ(redis.Run("MSET chat:home:from eve chat:home:text %s", "soup is ready"), "OK");
  EXPECT_EQ(redis.Run("ZADD chats:ann %ld home", kNow + 1), "1");
  EXPECT_EQ(redis.Run("MSET chat:work:from bob chat:work:text %b", "any\0one?\r\n", size_t{10}),
            "OK");
  EXPECT_EQ(redis.Run("ZADD chats:ann %ld work", kNow + 2), "0");
  EXPECT_EQ(redis.Run("ZREVRANGE chats:ann 0 -1"), "[work home]");
  EXPECT_EQ(redis.Run("MGET chat:work:text chat:home:text"),
            std::string("[any\0one?\r\n soup is ready]", 26));
  EXPECT_EQ(redis.Run("ZREM chats:ann work gym"), "1");
  EXPECT_EQ(redis.Run("ZREVRANGE chats:ann 0 -1"), "[home]");
  EXPECT_EQ(redis.Run("MGET chat:work:from chat:gym:from"), "[bob nil]");
}

TEST(Recipe, LiveEventsAreReceivedAndExpire) {
  HiredisConnection redis, listener;
  EXPECT_EQ(listener.Run("SUBSCRIBE events:new"), "[subscribe events:new 1]");
  for (int minute = 0; minute < 5; ++minute) {
    const std::string event = "goal " + std::to_string(minute);
    EXPECT_EQ(redis.Run("ZADD events %ld %s", kNow + 60 * minute, event.c_str()), "1");
    EXPECT_EQ(redis.Run("PUBLISH events:new %s", event.c_str()), "1");
    EXPECT_EQ(listener.Next(), "[message events:new " + event + "]");
  }
  EXPECT_EQ(redis.Run("ZRANGEBYSCORE events (%ld +inf", kNow + 120), "[goal 3 goal 4]");
  EXPECT_EQ(redis.Run("ZCOUNT events %ld %ld", kNow + 60, kNow + 180), "3");
  EXPECT_EQ(redis.Run("ZREMRANGEBYSCORE events -inf (%ld", kNow + 120), "2");
  EXPECT_EQ(redis.Run("ZCARD events"), "3");
}

TEST(Recipe, VisitorsAreThoseWithARecentHeartbeat) {
  HiredisConnection redis;
  EXPECT_EQ(redis.Run("ZADD visitors %ld ann %ld bob", kNow, kNow + 5), "2");
  EXPECT_EQ(redis.Run("ZADD visitors %ld ann", kNow + 20), "0");
  EXPECT_EQ(redis.Run("ZADD visitors %ld eve", kNow + 31), "1");
  EXPECT_EQ(redis.Run("ZREMRANGEBYSCORE visitors -inf %ld", kNow + 31 - 20), "1");
  EXPECT_EQ(redis.Run("ZCARD visitors"), "2");
  EXPECT_EQ(redis.Run("ZRANGE visitors 0 -1"), "[ann eve]");
}

// Runs one of two processes that write their readings for the same timestamps. Returns its exit
// code.
int WriteOneReadingPerTimestamp(const char* writer, int start_pipe) {
  HiredisConnection redis;
  char start;
  if (read(start_pipe, &start, 1) != 1) return 1;
  int replaced = 0;
  for (int timestamp = 0; timestamp < kRacedTimestamps; ++timestamp) {
    redis.Run("MULTI");
    redis.Run("ZREMRANGEBYSCORE readings %d %d", timestamp, timestamp);
    redis.Run("ZADD readings %d %s:%d", timestamp, writer, timestamp);
    const std::string done = redis.Run("EXEC");
    if (done != "[0 1]" && done != "[1 1]") return 2;
    replaced += done == "[1 1]";
  }
  redis.Run("INCRBY readings:replaced %d", replaced);
  return 0;
}

TEST(Recipe, OfTwoProcessesRacingOnATimestampOneElementRemains) {
  int start[2];
  ASSERT_EQ(pipe(start), 0);
  for (const char* writer : {"left", "right"}) {
    if (fork() == 0) _exit(WriteOneReadingPerTimestamp(writer, start[0]));
  }
  ASSERT_EQ(write(start[1], "go", 2), 2);
  for (int i = 0; i < 2; ++i) {
    int status = -1;
    wait(&status);
    EXPECT_EQ(status, 0);
  }
  HiredisConnection redis;
  EXPECT_EQ(redis.Run("ZCARD readings"), std::to_string(kRacedTimestamps));
  for (int timestamp = 0; timestamp < kRacedTimestamps; ++timestamp) {
    EXPECT_EQ(redis.Run("ZCOUNT readings %d %d", timestamp, timestamp), "1");
  }
  EXPECT_EQ(redis.Run("GET readings:replaced"), std::to_string(kRacedTimestamps));
}

TEST(Recipe, ExpiringSetAsAListOfKeys) {
  HiredisConnection redis;
  for (int number = 0; number < 3; ++number) {
    EXPECT_EQ(redis.Run("LPUSH sessions session:%d", number), std::to_string(number + 1));
    EXPECT_EQ(redis.Run("SET session:%d ticket%d", number, number), "OK");
    EXPECT_EQ(redis.Run("EXPIRE session:%d %d", number, 100 * (number + 1)), "1");
  }
  EXPECT_EQ(redis.Run("PEXPIRE session:1 20"), "1");
  EXPECT_TRUE(WaitUntil([&] { return redis.Run("TTL session:1") == "-2"; }));
  EXPECT_EQ(redis.Run("LRANGE sessions 0 -1"), "[session:2 session:1 session:0]");
  EXPECT_EQ(redis.Run("MGET session:2 session:1 session:0"), "[ticket2 nil ticket0]");
  EXPECT_PRED2(IsFreshTtl, redis.Run("TTL session:2"), 300);
  EXPECT_EQ(redis.Run("LREM sessions 0 session:1"), "1");
  EXPECT_EQ(redis.Run("LRANGE sessions 0 -1"), "[session:2 session:0]");
}

}  // namespace
}  // namespace zsetd
