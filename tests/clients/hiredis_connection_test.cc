// hiredis connects, pipelines, and reconnects after its connection was cut.

#include "tests/clients/hiredis_connection.h"

#include <gtest/gtest.h>

namespace zsetd {
namespace {

TEST(Connection, RepliesArriveInTheOrderOfTheirRequests) {
  HiredisConnection redis;
  redis.Append("PING");
  redis.Append("ECHO hello");
  redis.Append("GET connection:none");
  redis.Append("LPOP");
  EXPECT_EQ(redis.Next(), "PONG");
  EXPECT_EQ(redis.Next(), "hello");
  EXPECT_EQ(redis.Next(), "nil");
  EXPECT_EQ(redis.Next(), "ERR wrong number of arguments for 'lpop' command");
}

TEST(Connection, AClientIsKnownByItsName) {
  HiredisConnection redis;
  EXPECT_EQ(redis.Run("CLIENT SETNAME painter"), "OK");
  EXPECT_EQ(redis.Run("CLIENT GETNAME"), "painter");
  EXPECT_EQ(redis.Run("SELECT 3"), "OK");
  const std::string info = redis.Run("CLIENT INFO");
  EXPECT_NE(info.find(" name=painter "), std::string::npos) << info;
  EXPECT_NE(info.find(" db=3 "), std::string::npos) << info;
}

TEST(Connection, AClientReportsItsLibrary) {
  if (!IsZsetd()) GTEST_SKIP() << "new in Redis 7.2";
  HiredisConnection redis;
  EXPECT_EQ(redis.Run("CLIENT SETINFO LIB-NAME hiredis"), "OK");
  EXPECT_NE(redis.Run("CLIENT INFO").find(" lib-name=hiredis "), std::string::npos);
}

TEST(Connection, AKilledClientConnectsAgain) {
  HiredisConnection redis, killer;
  const std::string first = redis.Run("CLIENT ID");
  EXPECT_EQ(killer.Run("CLIENT KILL ID %s", first.c_str()), "1");
  EXPECT_NE(redis.Run("PING"), "PONG");
  ASSERT_TRUE(redis.Reconnect());
  EXPECT_EQ(redis.Run("PING"), "PONG");
  EXPECT_NE(redis.Run("CLIENT ID"), first);
}

}  // namespace
}  // namespace zsetd
