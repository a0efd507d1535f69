// Which units there are, how they are framed, and in which words each command is propagated.
#include "server/engine/propagation/effects.h"

#include <gtest/gtest.h>

#include <string>

#include "server/engine/applier.h"
#include "tests/propagation/recorder.h"
#include "tests/transcript/engine_peer.h"

namespace zsetd {
namespace {

class EffectsTest : public testing::Test {
 protected:
  EffectsTest() { peer_.engine().set_journal(&journal_); }
  ~EffectsTest() override { peer_.engine().set_journal(nullptr); }

  // Sends requests, one a line, and returns what they propagated.
  std::string Send(const std::string& lines, const std::string& client = "a") {
    std::string bytes;
    for (const char each : lines)
      bytes += each == '\n' ? std::string("\r\n") : std::string(1, each);
    peer_.Send(client, bytes + "\r\n");
    peer_.Receive(client, Millis(0));
    return Plain(journal_.TakeBytes());
  }

  EnginePeer peer_;
  Recorder journal_;
};

TEST_F(EffectsTest, RequestThatChangesSomethingIsPropagatedAsItIs) {
  EXPECT_EQ(Send("ZADD z 1 x"), "SELECT 0; zadd z 1 x");
  EXPECT_EQ(Send("ZADD z 1 x"), "");
  EXPECT_EQ(Send("ZSCORE z x"), "");
  EXPECT_EQ(Send("ZADD z nonsense x"), "");
  EXPECT_EQ(Send("ZADD z 2 x"), "zadd z 2 x");
}

TEST_F(EffectsTest, UnitNamesItsDatabaseWhereItDiffers) {
  EXPECT_EQ(Send("SET k v"), "SELECT 0; set k v");
  EXPECT_EQ(Send("SELECT 3\nSET k v"), "SELECT 3; set k v");
  EXPECT_EQ(Send("SET k w"), "set k w");
  peer_.engine().effects().ForgetDatabase();
  EXPECT_EQ(Send("SET k x"), "SELECT 3; set k x");
  EXPECT_EQ(Send("MULTI\nSET k y\nSELECT 0\nSET k z\nEXEC"),
            "MULTI; set k y; SELECT 0; set k z; EXEC");
}

TEST_F(EffectsTest, TransactionIsOneUnitFramedIfItIsSeveralRequests) {
  Send("SET k 1");
  const size_t units = journal_.units();
  EXPECT_EQ(Send("MULTI\nINCR k\nINCR k\nEXEC"), "MULTI; incr k; incr k; EXEC");
  EXPECT_EQ(Send("MULTI\nGET k\nINCR k\nEXEC"), "incr k");
  EXPECT_EQ(Send("MULTI\nGET k\nEXEC"), "");
  EXPECT_EQ(journal_.units(), units + 2);
}

TEST_F(EffectsTest, ScriptIsWhatItsCommandsPropagate) {
  Send("SET k 1");
  EXPECT_EQ(Send("EVAL \"redis.call('INCR','k') return redis.call('GET','k')\" 0"), "incr k");
  EXPECT_EQ(Send("EVAL \"redis.call('incr','k') redis.call('incr','k')\" 0"),
            "MULTI; incr k; incr k; EXEC");
}

TEST_F(EffectsTest, ExpiredKeyIsDeletedBeforeWhatTheCommandSays) {
  Send("DEBUG SET-ACTIVE-EXPIRE 0\nSET k v PX 10");
  peer_.Pass(Millis(20));
  EXPECT_EQ(Send("SADD k x"), "MULTI; DEL k; sadd k x; EXEC");
}

TEST_F(EffectsTest, KeyThatExpiresByItselfIsAUnit) {
  Send("MSET a 1 b 2\nPEXPIRE a 10\nPEXPIRE b 20");
  peer_.Pass(Millis(30));
  EXPECT_EQ(Plain(journal_.TakeBytes()), "DEL a; DEL b");
}

TEST_F(EffectsTest, ServedClientIsAUnitAfterThatOfWhoServedIt) {
  Send("BLPOP l 0", "waiting");
  EXPECT_EQ(Send("MULTI\nRPUSH l x\nRPUSH l y\nEXEC"),
            "MULTI; SELECT 0; rpush l x; rpush l y; EXEC; lpop l");
}

TEST_F(EffectsTest, MessagesAreApart) {
  EXPECT_EQ(Send("PUBLISH c m"), "");
  EXPECT_EQ(Plain(journal_.TakeMessages()), "publish c m");
}

TEST_F(EffectsTest, ClientKnowsWhereItsLastUnitEnds) {
  Send("SET k v");
  EXPECT_EQ(peer_.Find("a")->propagated_until, journal_.position());
  const uint64_t end = journal_.position();
  Send("SET k w", "b");
  Send("GET k");
  EXPECT_EQ(peer_.Find("a")->propagated_until, end);
  EXPECT_GT(peer_.Find("b")->propagated_until, end);
}

}  // namespace
}  // namespace zsetd
