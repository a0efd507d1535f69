#include "server/net/engine_lock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "server/process/clock.h"

namespace zsetd {
namespace {

class EngineLockTest : public testing::Test {
 protected:
  void Unlock() { lock_.Unlock(MonotonicNow()); }

  // Returns when a thread that has just been started waits for the lock, behind all that waited
  // before. The lock does not show the length of its queue, so the state of the thread is read.
  static void AwaitSleep(const std::atomic<bool>& is_near, const std::atomic<pid_t>& id) {
    while (!is_near || !Sleeps(id)) std::this_thread::yield();
  }

  EngineLock lock_;

 private:
  static bool Sleeps(pid_t id) {
    const std::string path = "/proc/self/task/" + std::to_string(id) + "/stat";
    char text[128] = {};
    FILE* file = fopen(path.c_str(), "r");
    if (file == nullptr) return false;
    const size_t size = fread(text, 1, sizeof(text), file);
    fclose(file);
    const std::string_view line(text, size);
    const size_t end = line.rfind(") ");
    return end != std::string_view::npos && line.substr(end + 2).starts_with('S');
  }
};

TEST_F(EngineLockTest, IsNotContendedWithoutOtherThreads) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(lock_.Lock(), Micros(0));
    EXPECT_FALSE(lock_.IsContended());
    EXPECT_FALSE(lock_.IsTurnOver());
    Unlock();
  }
  lock_.Lock();
  EXPECT_EQ(lock_.stats().waits, 0u);
  Unlock();
}

TEST_F(EngineLockTest, ServesWaitingThreadsInTheOrderOfArrival) {
  constexpr int kThreads = 6;
  std::vector<int> order;  // guarded by the lock
  std::vector<std::thread> threads;
  lock_.Lock();
  for (int i = 0; i < kThreads; ++i) {
    std::atomic<bool> is_near = false;
    std::atomic<pid_t> id = 0;
    threads.emplace_back([&, i] {
      id = gettid();
      is_near = true;
      lock_.Lock();
      order.push_back(i);
      Unlock();
    });
    AwaitSleep(is_near, id);
  }
  EXPECT_TRUE(lock_.IsContended());
  EXPECT_EQ(order, std::vector<int>());
  Unlock();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_FALSE(lock_.IsContended());
}

TEST_F(EngineLockTest, ATurnEndsOnlyIfAnotherThreadWaits) {
  lock_.Lock();
  while (MonotonicNow() - lock_.locked_at() < 2 * EngineLock::kTurn) continue;
  EXPECT_FALSE(lock_.IsTurnOver());
  std::thread other([this] {
    lock_.Lock();
    Unlock();
  });
  while (!lock_.IsTurnOver()) std::this_thread::yield();
  Unlock();
  EXPECT_GE(lock_.Lock(), Micros(0));
  Unlock();
  other.join();
}

// A thread that locks again immediately does not overtake the one that waits.
TEST_F(EngineLockTest, PassesTheTurnToTheOtherThread) {
  std::atomic<bool> stops = false;
  int turns = 0;  // of the other thread, guarded by the lock
  lock_.Lock();
  std::thread other([&] {
    while (!stops) {
      lock_.Lock();
      ++turns;
      Unlock();
    }
  });
  for (int i = 1; i <= 100; ++i) {
    while (!lock_.IsContended()) std::this_thread::yield();
    const int before = turns;
    Unlock();
    lock_.Lock();
    EXPECT_GT(turns, before);
  }
  stops = true;
  Unlock();
  other.join();
}

TEST_F(EngineLockTest, AdmitsOneThreadAtATime) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 20'000;
  int inside = 0;
  uint64_t sum = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        lock_.Lock();
        EXPECT_EQ(++inside, 1);
        ++sum;
        --inside;
        Unlock();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, uint64_t{kThreads} * kRounds);
}

TEST_F(EngineLockTest, MeasuresHoldsAndWaits) {
  lock_.Lock();
  std::thread other([&] {
    EXPECT_GE(lock_.Lock(), Micros(1000));
    Unlock();
  });
  while (!lock_.IsContended()) std::this_thread::yield();
  const Micros until = MonotonicNow() + Micros(2000);
  while (MonotonicNow() < until) continue;
  Unlock();
  other.join();
  lock_.Lock();
  const EngineLock::Stats& stats = lock_.stats();
  EXPECT_EQ(stats.waits, 1u);
  EXPECT_EQ(stats.wait_times.count(), 1u);
  EXPECT_EQ(stats.waited, stats.longest_wait);
  EXPECT_GE(stats.longest_wait, Micros(1000));
  EXPECT_GE(stats.longest_hold, Micros(2000));
  EXPECT_GE(stats.held, stats.longest_hold);
  lock_.ResetStats();
  EXPECT_EQ(lock_.stats().waits, 0u);
  Unlock();
}

}  // namespace
}  // namespace zsetd
