// How often a tick checks the clients.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

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

TEST(ClosingIdleClients, TakesSeveralTicks) {
  constexpr int kClients = 1'000;
  constexpr Micros kBudget{100};
  Settings settings;
  settings.timeout = 1;
  Micros stopwatch{0};
  Host host;
  host.stopwatch = [&] { return stopwatch += Micros(1); };
  Engine engine(settings, {}, /*seed=*/1, kStart, host);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < kClients; ++i) {
    const uint64_t id = engine.clients().NextId();
    clients.push_back(std::make_unique<Client>(id, "peer", "own", kStart, [] {}));
    engine.clients().Attach(*clients.back());
  }
  const Millis later = kStart + Millis(2000);
  engine.executor().AdvanceTo(later);
  int ticks = 0;
  for (; !engine.clients().all().empty() && ticks < kClients; ++ticks) {
    const size_t before = engine.clients().all().size();
    engine.executor().Tick(kBudget);
    EXPECT_LE(before - engine.clients().all().size(), 2 * kBudget.count());
    if (engine.clients().all().size() > 1) {
      EXPECT_EQ(engine.executor().NextDeadline(), later);
    }
  }
  EXPECT_GE(ticks, 5);
  EXPECT_LT(ticks, kClients);
}

}  // namespace
}  // namespace zsetd::engine_tick_test
