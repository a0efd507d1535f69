// How often a tick checks the clients.

#include <gtest/gtest.h>

#include <string>

#include "server/engine/engine.h"

namespace zsetd::engine_tick_test {
namespace {

constexpr Millis kStart{1'800'000'000'000};
constexpr Millis kPeriod{100};

Settings WithNoOutputAllowed() {
  Settings settings;
  settings.hz = 10;
  settings.client_output_buffer_limit.normal.hard_bytes = 1;
  return settings;
}

class EngineTick : public testing::Test {
 protected:
  EngineTick() {
    engine_.clients().Attach(stalled_);
    stalled_.output.buffer.Append(std::string(ClientOutput::kUncounted + 2, 'x'));
  }
  ~EngineTick() override { engine_.clients().Detach(stalled_); }

  // Returns how often a tick at that time wakes the client.
  int WakesAt(Millis now) {
    const int before = wakes_;
    engine_.executor().AdvanceTo(now);
    engine_.executor().Tick(Micros(1000));
    return wakes_ - before;
  }

  Engine engine_{
      WithNoOutputAllowed(), {}, /*seed=*/1, kStart, Host{.stopwatch = [] { return Micros(0); }}};
  int wakes_ = 0;
  Client stalled_{engine_.clients().NextId(), "peer", "own", kStart, [this] { ++wakes_; }};
};

TEST_F(EngineTick, ChecksClientsOncePerPeriod) {
  EXPECT_EQ(WakesAt(kStart), 1);
  EXPECT_EQ(WakesAt(kStart), 0);
  EXPECT_EQ(WakesAt(kStart + kPeriod - Millis(1)), 0);
  EXPECT_EQ(WakesAt(kStart + kPeriod), 1);
}

TEST_F(EngineTick, ChecksClientsAfterTheClockIsSetBack) {
  EXPECT_EQ(WakesAt(kStart), 1);
  EXPECT_EQ(WakesAt(kStart - kPeriod), 1);
}

}  // namespace
}  // namespace zsetd::engine_tick_test
