#include "server/engine/client/client_pause.h"

#include <gtest/gtest.h>

#include "server/engine/client/client.h"
#include "server/engine/command/command.h"

namespace zsetd::client_pause_test {
namespace {

using Cause = ClientPause::Cause;
using Reach = ClientPause::Reach;

constexpr Millis kNow{1000};

class ClientPauseTest : public testing::Test {
 protected:
  bool HoldsWrites(Millis now) const { return Holds(kWrite, now); }
  bool HoldsReads(Millis now) const { return Holds(kReadOnly, now); }
  bool Holds(uint32_t flags, Millis now) const {
    return pause_.IsOn(now) && pause_.Holds(client_, flags, now);
  }

  ServerMode mode_;
  ClientPause pause_{mode_};
  Client client_{1, "", "", kNow, [] {}};
};

TEST_F(ClientPauseTest, TheEndOfOnePauseDoesNotEndAnother) {
  pause_.Begin(Cause::kShutdown, Reach::kWrites, kNow, Millis::max());
  pause_.Begin(Cause::kCommand, Reach::kEverything, kNow, Millis(2000));
  EXPECT_TRUE(HoldsReads(kNow));
  pause_.End(Cause::kCommand);
  EXPECT_FALSE(HoldsReads(kNow));
  EXPECT_TRUE(HoldsWrites(kNow));
  pause_.End(Cause::kShutdown);
  EXPECT_FALSE(pause_.IsOn(kNow));
  EXPECT_FALSE(HoldsWrites(kNow));
}

TEST_F(ClientPauseTest, EachPauseEndsAtItsOwnTime) {
  pause_.Begin(Cause::kCommand, Reach::kEverything, kNow, Millis(2000));
  pause_.Begin(Cause::kFailover, Reach::kWrites, kNow, Millis(3000));
  EXPECT_EQ(pause_.NextDeadline(kNow), Millis(3000));
  EXPECT_TRUE(HoldsReads(Millis(1999)));
  EXPECT_FALSE(HoldsReads(Millis(2000)));
  EXPECT_TRUE(HoldsWrites(Millis(2999)));
  EXPECT_FALSE(HoldsWrites(Millis(3000)));
}

TEST_F(ClientPauseTest, PausesOfOneCauseCombine) {
  pause_.Begin(Cause::kCommand, Reach::kEverything, kNow, Millis(2000));
  pause_.Begin(Cause::kCommand, Reach::kWrites, kNow, Millis(1500));
  EXPECT_TRUE(HoldsReads(Millis(1999)));
  pause_.Begin(Cause::kCommand, Reach::kWrites, Millis(2000), Millis(2500));
  EXPECT_FALSE(HoldsReads(Millis(2000)));
  EXPECT_TRUE(HoldsWrites(Millis(2499)));
}

}  // namespace
}  // namespace zsetd::client_pause_test
