// maxmemory with memory that a test sets: how long evictions delay a command, and which evictions
// run between commands.

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/commands/all_commands.h"
#include "server/engine/engine.h"

namespace zsetd::memory_limit_test {
namespace {

constexpr Millis kStart{1'800'000'000'000};
constexpr int kKeys = 1'000;
constexpr int64_t kBytesPerKey = 100;

class MemoryLimit : public testing::Test {
 protected:
  explicit MemoryLimit(int io_threads = 1)
      : engine_{ThreadSettings(io_threads), AllCommands(), /*seed=*/1, kStart,
                Host{.stopwatch = [this] { return stopwatch_ += Micros(1); },
                     .wall_clock = [] { return Micros(kStart); },
                     .used_bytes = [this] { return keys() * kBytesPerKey; }}} {
    engine_.clients().Attach(client_);
    for (int i = 0; i < kKeys; ++i) Ask({"SET", std::to_string(i), "value"});
  }
  ~MemoryLimit() override { engine_.clients().Detach(client_); }

  static Settings ThreadSettings(int io_threads) {
    Settings settings;
    settings.io_threads = io_threads;
    return settings;
  }
  std::string Ask(const std::vector<std::string_view>& words) {
    engine_.executor().Execute(client_, words);
    return std::string(std::exchange(client_.output.buffer, {}).view());
  }
  void Set(std::string_view setting, std::string_view value) {
    EXPECT_EQ(Ask({"CONFIG", "SET", setting, value}), "+OK\r\n");
  }
  size_t keys() const { return engine_.store().database(0).keys().size(); }
  std::string Limit(int keys) const { return std::to_string(keys * kBytesPerKey); }

  // The stopwatch advances by a microsecond at each reading.
  Micros stopwatch_{0};
  Engine engine_;
  Client client_{engine_.clients().NextId(), "peer", "own", kStart, [] {}};
};

TEST_F(MemoryLimit, KeysAreEvictedUntilTheRestFits) {
  Set("maxmemory-policy", "allkeys-lru");
  Set("maxmemory", Limit(300));
  EXPECT_EQ(Ask({"PING"}), "+PONG\r\n");
  EXPECT_EQ(keys(), 300u);
  EXPECT_EQ(Ask({"SET", "new", "value"}), "+OK\r\n");
  EXPECT_EQ(keys(), 301u) << "the next command makes room for it";
  EXPECT_EQ(engine_.metrics().stats().evicted_keys, 700u);
}

TEST_F(MemoryLimit, TenacityBoundsTheWaitOfACommand) {
  Set("maxmemory-policy", "allkeys-lru");
  Set("maxmemory-eviction-tenacity", "0");
  Set("maxmemory", Limit(100));
  EXPECT_EQ(Ask({"SET", "new", "value"}), "+OK\r\n") << "room is being made";
  EXPECT_EQ(keys(), kKeys + 1 - 16u) << "evicted between two looks at the stopwatch";
  EXPECT_EQ(engine_.executor().NextDeadline(), engine_.store().now())
      << "the next tick is due immediately";
  while (engine_.executor().NextDeadline() == engine_.store().now())
    engine_.executor().Tick(Micros(1));
  EXPECT_EQ(keys(), 100u);
}

// The choice of a volatile key can be slow.
TEST_F(MemoryLimit, VolatilePoliciesLookAtTheStopwatchAfterEachEviction) {
  for (int i = 0; i < 10; ++i) Ask({"EXPIRE", std::to_string(i), "1000"});
  Set("maxmemory-policy", "volatile-lru");
  Set("maxmemory-eviction-tenacity", "0");
  Set("maxmemory", Limit(100));
  EXPECT_EQ(Ask({"PING"}), "+PONG\r\n");
  EXPECT_EQ(keys(), kKeys - 1u);
}

class MemoryLimitOfThreads : public MemoryLimit {
 protected:
  MemoryLimitOfThreads() : MemoryLimit(/*io_threads=*/2) {}
};

TEST_F(MemoryLimitOfThreads, RepliesThatOtherThreadsAreSendingEvictNoKey) {
  std::atomic<size_t> sending = 100 * kBytesPerKey;
  engine_.store().gauge().AddSender(sending);
  Set("maxmemory-policy", "allkeys-lru");
  Set("maxmemory", Limit(950));
  EXPECT_EQ(Ask({"PING"}), "+PONG\r\n");
  EXPECT_EQ(keys(), size_t{kKeys});
  sending = 20 * kBytesPerKey;
  Ask({"PING"});
  EXPECT_EQ(keys(), 970u);
  sending = 0;
  Ask({"PING"});
  EXPECT_EQ(keys(), 950u);
  engine_.store().gauge().RemoveSender(sending);
}

TEST_F(MemoryLimit, NoKeyIsEvictedWhileClientsArePaused) {
  Set("maxmemory-policy", "allkeys-lru");
  Ask({"CLIENT", "PAUSE", "1000", "WRITE"});
  Set("maxmemory", Limit(1));
  EXPECT_EQ(Ask({"GET", "1"}), "$5\r\nvalue\r\n");
  engine_.executor().Tick(Micros(1));
  EXPECT_EQ(keys(), size_t{kKeys});
  engine_.executor().AdvanceTo(kStart + Millis(2000));
  engine_.executor().Tick(Micros(1));
  EXPECT_EQ(keys(), 1u);
}

TEST_F(MemoryLimit, ReportsHowLongItWasExceeded) {
  Set("maxmemory", Limit(1));
  EXPECT_EQ(Ask({"SET", "k", "v"}).substr(0, 4), "-OOM");
  stopwatch_ += Micros(5000);
  EXPECT_GE(engine_.store().ExceedsLimitFor(), Micros(5000));
  Set("maxmemory", Limit(kKeys));
  Ask({"PING"});
  EXPECT_EQ(engine_.store().ExceedsLimitFor(), Micros(0));
  EXPECT_GE(engine_.metrics().stats().memory_short_time, Micros(5000));
}

}  // namespace
}  // namespace zsetd::memory_limit_test
