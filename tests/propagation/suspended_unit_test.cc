#include "server/engine/suspended_unit.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <string_view>

#include "server/engine/engine.h"
#include "tests/propagation/recorder.h"
#include "tests/transcript/engine_peer.h"

namespace zsetd {
namespace {

Settings WithSlowScripts() {
  Settings settings;
  settings.busy_reply_threshold = -1;  // a script is suspended at the first opportunity
  settings.dir = "/data";
  return settings;
}

// Long enough that it is suspended at least once.
constexpr std::string_view kSlow = "EVAL \"for i = 1, 1000000 do end return 1\" 0";

class SuspendedUnitTest : public testing::Test {
 protected:
  void Send(const std::string& client, std::string_view line) {
    peer_.Send(client, std::string(line) + "\r\n");
  }

  std::string Ask(const std::string& client, std::string_view line) {
    Send(client, line);
    return peer_.Receive(client, Millis(0));
  }

  // Runs slices until the script and the transaction around it have ended.
  void Finish() {
    for (int tick = 0; tick < 100'000 && IsSuspended(); ++tick) peer_.Pass(Millis(1));
    ASSERT_FALSE(IsSuspended());
  }

  bool IsSuspended() { return !peer_.engine().mode().IsBetweenUnits(); }

  EnginePeer peer_{WithSlowScripts()};
};

// A stand-in runs the rest of the transaction.
TEST_F(SuspendedUnitTest, ClientThatLeavesKeepsNoSubscriptions) {
  Send("a", "MULTI");
  Send("a", kSlow);
  Send("a", "SUBSCRIBE news");
  Send("a", "CLIENT TRACKING on");
  Send("a", "SET k v");
  Send("a", "EXEC");
  ASSERT_TRUE(IsSuspended());
  peer_.HangUp("a");
  Finish();
  EXPECT_EQ(Ask("b", "GET k"), "$1\r\nv\r\n");
  EXPECT_EQ(Ask("b", "PUBLISH news n"), ":0\r\n");
  EXPECT_EQ(Ask("b", "SET k w"), "+OK\r\n");
}

TEST_F(SuspendedUnitTest, EffectsFormOneUnitAtTheEnd) {
  Recorder journal;
  peer_.engine().effects().set_log(&journal);
  Send("a", "MULTI");
  Send("a", "SET k 1");
  Send("a", kSlow);
  Send("a", "SET k 2");
  Send("a", "EXEC");
  ASSERT_TRUE(IsSuspended());
  Send("b", "MULTI");  // a command of another client ends no unit
  EXPECT_EQ(journal.units(), 0u);
  Finish();
  EXPECT_EQ(journal.units(), 1u);
  peer_.engine().effects().set_log(nullptr);
}

// Output before the transaction, which has not been sent, is kept, too.
TEST_F(SuspendedUnitTest, ReplyOfATransactionIsWhole) {
  Ask("a", "SETRANGE k 99999 v");
  const std::string bulk = "$100000\r\n" + std::string(99'999, '\0') + "v\r\n";
  for (const std::string earlier : {"", "+PONG\r\n"}) {
    SCOPED_TRACE(earlier);
    if (!earlier.empty()) Send("a", "PING");
    for (const char* const line : {"MULTI", "GET k", kSlow.data(), "GET k", kSlow.data(), "EXEC"}) {
      Send("a", line);
    }
    ASSERT_TRUE(IsSuspended());
    Finish();
    std::string queued = "+OK\r\n";
    for (int i = 0; i < 4; ++i) queued += "+QUEUED\r\n";
    const std::string reply = "*4\r\n" + bulk + ":1\r\n" + bulk + ":1\r\n";
    EXPECT_TRUE(peer_.Receive("a", Millis(0)) == earlier + queued + reply);
    EXPECT_EQ(Ask("a", "PING"), "+PONG\r\n");
  }
}

// Each reading of the stopwatch ends a slice, so the script has hundreds of them.
TEST(SuspendedUnit, EarlierRepliesAreNotCopiedInEachSlice) {
  Micros now(0);
  EnginePeer peer(WithSlowScripts(), {}, [&now] { return now += Millis(2); });
  for (const char* const line : {"SETRANGE k 33554431 v", "MULTI", "GET k", "GET k",
                                 "EVAL \"for i = 1, 10000000 do end return 1\" 0", "EXEC"}) {
    peer.Send("a", std::string(line) + "\r\n");
  }
  const std::clock_t begin = std::clock();
  int slices = 0;
  for (; !peer.engine().mode().IsBetweenUnits(); ++slices) peer.Pass(Millis(1));
  EXPECT_GT(slices, 200);
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 3);
  EXPECT_TRUE(peer.Receive("a", Millis(0)).ends_with("v\r\n:1\r\n"));
}

TEST_F(SuspendedUnitTest, ReadsOfAScriptThatWasSuspendedAreTracked) {
  Send("a", "HELLO 3");
  Send("a", "CLIENT TRACKING on");
  Send("a", "EVAL_RO \"redis.call('get', KEYS[1]) for i = 1, 1000000 do end return 1\" 1 k");
  ASSERT_TRUE(IsSuspended());
  Finish();
  peer_.Receive("a", Millis(0));
  Send("b", "SET k w");
  EXPECT_NE(peer_.Receive("a", Millis(0)).find("invalidate"), std::string::npos);
}

}  // namespace
}  // namespace zsetd
