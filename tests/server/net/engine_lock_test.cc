#include "server/net/engine_lock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "server/process/clock.h"

// The tests lock and unlock in different functions, which clang's analysis cannot follow.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wthread-safety-analysis"
#endif

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

// --- Shared turns ---

TEST_F(EngineLockTest, ReadersShareIt) {
  lock_.LockShared();
  std::thread other([this] {
    EXPECT_EQ(lock_.LockShared().waited, Micros(0));
    lock_.UnlockShared();
  });
  other.join();
  EXPECT_FALSE(lock_.IsContended());
  lock_.UnlockShared();
  EXPECT_EQ(lock_.Lock(), Micros(0));
  Unlock();
}

// Threads lock in the order of their letters: w alone, r shared. All that share it at the same time
// are admitted together.
TEST_F(EngineLockTest, ReadersDoNotOvertakeAWriter) {
  const std::string kinds = "rrwrrw";
  std::string admitted;
  std::mutex mutex;  // of `admitted`
  std::vector<std::thread> threads;
  lock_.Lock();
  for (const char kind : kinds) {
    std::atomic<bool> is_near = false;
    std::atomic<pid_t> id = 0;
    threads.emplace_back([&, kind] {
      id = gettid();
      is_near = true;
      if (kind == 'w') {
        lock_.Lock();
        admitted += kind;
        Unlock();
        return;
      }
      lock_.LockShared();
      {
        const std::lock_guard guard(mutex);
        admitted += kind;
      }
      lock_.UnlockShared();
    });
    AwaitSleep(is_near, id);
  }
  Unlock();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(admitted, kinds);
  EXPECT_FALSE(lock_.IsContended());
}

TEST_F(EngineLockTest, ASharedTurnEndsOnlyIfAThreadWaitsToBeAlone) {
  const EngineLock::SharedTurn turn = lock_.LockShared();
  std::thread reader([this] {
    lock_.LockShared();
    lock_.UnlockShared();
  });
  reader.join();
  while (MonotonicNow() - turn.began < 2 * EngineLock::kTurn) continue;
  EXPECT_FALSE(lock_.IsTurnOver(turn));
  std::thread writer([this] {
    lock_.Lock();
    Unlock();
  });
  while (!lock_.IsTurnOver(turn)) std::this_thread::yield();
  lock_.UnlockShared();
  writer.join();
}

TEST_F(EngineLockTest, UpgradesTheOnlyReader) {
  lock_.LockShared();
  EXPECT_TRUE(lock_.TryUpgrade());
  lock_.Downgrade(MonotonicNow());
  std::thread other([this] {
    lock_.LockShared();
    EXPECT_FALSE(lock_.TryUpgrade());
    lock_.UnlockShared();
  });
  other.join();
  EXPECT_TRUE(lock_.TryUpgrade());
  Unlock();
}

TEST_F(EngineLockTest, DowngradingAdmitsTheReadersBeforeTheFirstWriter) {
  std::atomic<int> readers = 0;
  std::atomic<bool> has_written = false;
  std::vector<std::thread> threads;
  lock_.Lock();
  for (const bool reads : {true, true, false}) {
    std::atomic<bool> is_near = false;
    std::atomic<pid_t> id = 0;
    threads.emplace_back([&, reads] {
      id = gettid();
      is_near = true;
      if (!reads) {
        lock_.Lock();
        has_written = true;
        return Unlock();
      }
      lock_.LockShared();
      ++readers;
      lock_.UnlockShared();
    });
    AwaitSleep(is_near, id);
  }
  lock_.Downgrade(MonotonicNow());
  while (readers < 2) std::this_thread::yield();
  EXPECT_FALSE(has_written);
  EXPECT_TRUE(lock_.IsContended());
  lock_.UnlockShared();
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(has_written);
}

TEST_F(EngineLockTest, AdmitsEitherReadersOrOneWriter) {
  constexpr int kThreads = 6;
  constexpr int kRounds = 10'000;
  std::atomic<int> readers = 0;
  std::atomic<int> writers = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < kRounds; ++round) {
        if ((round + i) % 3 == 0) {
          lock_.Lock();
          EXPECT_EQ(++writers, 1);
          EXPECT_EQ(readers, 0);
          --writers;
          Unlock();
          continue;
        }
        lock_.LockShared();
        ++readers;
        EXPECT_EQ(writers, 0);
        const bool upgrades = round % 5 == 0;
        --readers;
        if (upgrades && lock_.TryUpgrade()) {
          EXPECT_EQ(++writers, 1);
          EXPECT_EQ(readers, 0);
          --writers;
          lock_.Downgrade(MonotonicNow());
        }
        lock_.UnlockShared();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lock_.Lock(), Micros(0));
  Unlock();
}

}  // namespace
}  // namespace zsetd
