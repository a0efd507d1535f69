// Which replies are held with appendfsync always. The test sends random requests of every command
// that writes. Keys and elements expire. DEBUG commands change data without a unit, and the log's
// settings change.
//
// Two properties, checked after each step:
//   - a reply that reports a change which is not durable is held;
//   - when all that was appended is durable, no reply is held.
//
//   HOLDS_SEED=7 HOLDS_STEPS=100000 build/release/tests/propagation_test
//   --gtest_filter='ReplyHolds*'
#include "server/engine/notify/reply_holds.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/propagation/random_requests.h"
#include "tests/propagation/recorder.h"
#include "tests/support/steps.h"
#include "tests/transcript/engine_peer.h"
#include "tests/transcript/transcript.h"

namespace zsetd::reply_holds_test {
namespace {

using Operation = MemoryFiles::Operation;

uint64_t Environment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

Settings WithLog() {
  Settings settings;
  settings.enable_debug_command = DangerousAccess::kYes;
  settings.save.points.clear();
  settings.dir = "/data";
  settings.appendonly = true;
  settings.appendfsync = AppendFsync::kAlways;
  return settings;
}

class ReplyHoldsTest : public testing::Test {
 protected:
  ReplyHoldsTest() {
    EXPECT_TRUE(peer_.persistence().Start().ok());
    peer_.files().set_failure([this](const Operation& operation) {
      while (operation.kind == Operation::Kind::kSyncData && is_stopped_) std::this_thread::yield();
      return absl::OkStatus();
    });
  }
  ~ReplyHoldsTest() override { is_stopped_ = false; }

  std::string Ask(const std::string& client, const Words& words) {
    peer_.Send(client, Multibulk(words));
    return peer_.Receive(client, Millis(0));
  }

  void Run(const Words& words) {
    trace_.push_back(words);
    Ask("writer", words);
  }

  // Returns when a client that sends this request now gets its reply.
  Release ReleaseOf(const Words& words) {
    peer_.Send("reader", Multibulk(words));
    const Release release = peer_.engine().reply_holds().ReleaseOf(*peer_.Find("reader"));
    peer_.HangUp("reader");
    return release;
  }

  // Waits until the log is on the disk.
  void Flush() {
    is_stopped_ = false;
    peer_.persistence().EndRound();
    while (peer_.persistence().DurablePosition() < peer_.persistence().WrittenPosition()) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  // A request that reads may find expired elements, which adds a unit.
  void ExpectNothingIsHeld() {
    Flush();
    std::vector<Words> reads = {{"DBSIZE"}, {"KEYS", "*"}, {"SCAN", "0"}};
    for (const std::string& key : Keys()) reads.push_back({"EXISTS", key});
    for (const Words& words : reads) {
      if (ReleaseOf(words) == Release::kNow) continue;
      Flush();
      EXPECT_EQ(ReleaseOf(words), Release::kNow) << Plain(Multibulk(words)) << "\n" << Trace();
    }
  }

  // The keys that RandomRequests uses.
  static std::vector<std::string> Keys() {
    std::vector<std::string> keys;
    for (const char type : std::string_view("sblthzg")) {
      for (int number = 0; number < 5; ++number) {
        keys.push_back(std::string(1, type) + std::to_string(number));
      }
    }
    return keys;
  }

  std::map<std::string, std::string> Digests() {
    std::map<std::string, std::string> digests;
    for (const std::string& key : Keys()) {
      digests[key] = Ask("digests", {"DEBUG", "DIGEST-VALUE", key});
    }
    return digests;
  }

  std::string Trace() const {
    std::string text = "HOLDS_SEED=" + std::to_string(seed_) + "\n";
    for (const Words& words : trace_) text += "  " + Plain(Multibulk(words)) + "\n";
    return text;
  }

  // Changes the data by means other than commands that write.
  void RunRandomReload() {
    static const std::vector<Words> kReloads = {{"DEBUG", "POPULATE", "3", "s"},
                                                {"DEBUG", "RELOAD"},
                                                {"DEBUG", "RELOAD", "NOSAVE"},
                                                {"DEBUG", "LOADAOF"}};
    Run(kReloads[requests_.rng().Below(kReloads.size())]);
  }

  void RunRandom() {
    const size_t what = requests_.rng().Below(100);
    if (what < 60) return Run(requests_.Any());
    if (what < 75) {
      Run({"MULTI"});
      for (size_t left = 1 + requests_.rng().Below(3); left > 0; --left) Run(requests_.Any());
      return Run({"EXEC"});
    }
    const std::string key = requests_.AnyKey();
    const std::string millis = std::to_string(1 + requests_.rng().Below(50));
    if (what < 80) return Run({"ZPEXPIRE", key, millis, "MEMBERS", "3", "a", "b", "c"});
    if (what < 85) return Run({"HPEXPIRE", key, millis, "FIELDS", "3", "a", "b", "c"});
    if (what < 88) return Run({"PEXPIRE", key, millis});
    trace_.push_back({"(time passes)", millis});
    peer_.Pass(Millis(1 + requests_.rng().Below(50)));
  }

  const uint64_t seed_ = Environment("HOLDS_SEED", 1);
  const uint64_t steps_ = Environment("HOLDS_STEPS", Steps(3000));
  std::atomic<bool> is_stopped_ = false;  // while true, no sync ends
  EnginePeer peer_{WithLog()};
  RandomRequests requests_{seed_,
                           {.now = [this] { return peer_.engine().store().now(); },
                            .dump = [](const std::string&) { return std::string("none"); },
                            .dump_functions = [] { return std::string("none"); }}};
  std::vector<Words> trace_;
};

TEST_F(ReplyHoldsTest, NoReplyIsHeldWhenAllIsDurable) {
  std::printf("HOLDS_SEED=%llu\n", static_cast<unsigned long long>(seed_));
  for (uint64_t step = 0; step < steps_ && !HasFailure(); ++step) {
    if (step % 20 == 0) trace_.clear();
    if (requests_.rng().Below(20) == 0) RunRandomReload();
    RunRandom();
    ExpectNothingIsHeld();
  }
}

TEST_F(ReplyHoldsTest, EveryChangeOfAKeyHoldsItsReaders) {
  std::printf("HOLDS_SEED=%llu\n", static_cast<unsigned long long>(seed_));
  size_t held = 0;
  for (uint64_t step = 0; step < steps_ / 4 && !HasFailure(); ++step) {
    if (step % 20 == 0) trace_.clear();
    Flush();
    const std::map<std::string, std::string> before = Digests();
    Flush();
    is_stopped_ = true;
    const uint64_t end = peer_.persistence().WrittenPosition();
    RunRandom();
    peer_.persistence().EndRound();
    if (peer_.persistence().WrittenPosition() == end) continue;  // no unit
    for (const auto& [key, digest] : Digests()) {
      if (digest == before.at(key)) continue;
      ++held;
      EXPECT_EQ(ReleaseOf({"EXISTS", key}), Release::kLater) << key << "\n" << Trace();
      EXPECT_EQ(ReleaseOf({"DBSIZE"}), Release::kLater) << Trace();
      EXPECT_EQ(ReleaseOf({"SORT", "none", "BY", "nosort", "GET", "*"}), Release::kLater)
          << Trace();
    }
  }
  EXPECT_GT(held, steps_ / 20);
}

TEST_F(ReplyHoldsTest, LastElementThatExpiresHoldsNoReader) {
  Run({"ZADD", "z", "1", "a"});
  Run({"HSET", "h", "a", "1"});
  Run({"ZPEXPIRE", "z", "10", "MEMBERS", "1", "a"});
  Run({"HPEXPIRE", "h", "10", "FIELDS", "1", "a"});
  peer_.Pass(Millis(20));
  Flush();
  EXPECT_EQ(ReleaseOf({"EXISTS", "z"}), Release::kNow);
  EXPECT_EQ(ReleaseOf({"EXISTS", "h"}), Release::kNow);
  EXPECT_EQ(ReleaseOf({"DBSIZE"}), Release::kNow);
}

TEST_F(ReplyHoldsTest, DataThatIsInNoUnitHoldsNoReader) {
  Run({"SET", "s0", "1"});
  for (const Words& words : std::vector<Words>{{"DEBUG", "RELOAD"},
                                               {"DEBUG", "LOADAOF"},
                                               {"DEBUG", "POPULATE", "3", "s"},
                                               {"FLUSHALL"},
                                               {"DEBUG", "RELOAD", "NOSAVE"}}) {
    Run(words);
    Flush();
    EXPECT_EQ(ReleaseOf({"DBSIZE"}), Release::kNow) << words[1];
    EXPECT_EQ(ReleaseOf({"GET", "s0"}), Release::kNow) << words[1];
  }
}

// Nothing is durable before the first base is complete, so no reply can wait for it.
TEST_F(ReplyHoldsTest, LogWithoutABaseHoldsNoReply) {
  Run({"CONFIG", "SET", "appendonly", "no"});
  peer_.files().set_failure([](const Operation& operation) {
    const bool is_base = operation.path.ends_with(".rdb") || operation.to.ends_with(".rdb");
    return is_base ? absl::ResourceExhaustedError("No space left on device") : absl::OkStatus();
  });
  Run({"CONFIG", "SET", "appendonly", "yes"});
  for (int i = 0; i < 3; ++i) peer_.Pass(Millis(100));
  Run({"SET", "k", "1"});
  peer_.persistence().EndRound();
  peer_.Pass(Millis(1));
  EXPECT_EQ(peer_.engine().reply_holds().ReleaseOf(*peer_.Find("writer")), Release::kNow);
  EXPECT_EQ(ReleaseOf({"GET", "k"}), Release::kNow);
  peer_.files().set_failure(nullptr);
  peer_.Pass(Millis(60'000));
  Run({"SET", "k", "2"});
  ExpectNothingIsHeld();
}

}  // namespace
}  // namespace zsetd::reply_holds_test
