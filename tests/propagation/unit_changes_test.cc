// Settings that change, snapshots, reloads and the server's end within a unit. No file and no
// stream ever contains a part of a unit.
//
//   UNITS_SEED=7 UNITS_STEPS=1000 build/release/tests/propagation_test
//   --gtest_filter='UnitChanges*'
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/util/rng.h"
#include "tests/propagation/follower.h"
#include "tests/propagation/recorder.h"
#include "tests/support/steps.h"
#include "tests/transcript/engine_peer.h"
#include "tests/transcript/transcript.h"

namespace zsetd::unit_changes_test {
namespace {

uint64_t Environment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Only FLUSHALL saves without a request to save.
Settings With(bool log) {
  Settings settings;
  settings.enable_debug_command = DangerousAccess::kYes;
  settings.save.points = {{.age = std::chrono::hours(1000), .changes = 1'000'000'000}};
  settings.dir = "/data";
  settings.appendonly = log;
  settings.appendfsync = AppendFsync::kAlways;
  settings.auto_aof_rewrite_percentage = 0;
  settings.busy_reply_threshold = -1;  // a script is suspended at the first opportunity
  return settings;
}

// Sends a request whose reply comes immediately, or from a script that is suspended at times.
std::string Ask(EnginePeer& peer, const Words& words) {
  peer.Send("a", Multibulk(words));
  std::string reply = peer.Receive("a", Millis(0));
  for (int tries = 0; reply.empty() && tries < 100; ++tries) {
    peer.Pass(Millis(100));
    reply = peer.Receive("a", Millis(0));
  }
  return reply;
}

std::string Digest(EnginePeer& peer) { return Ask(peer, {"DEBUG", "DIGEST"}); }

// Returns the digest of the data of a server that starts with these files.
std::string DigestAfterStart(const MemoryFiles::Contents& disk, bool log) {
  EnginePeer restarted(With(log));
  for (const auto& [path, bytes] : disk) restarted.files().set_contents(path, bytes);
  const absl::Status status = restarted.persistence().Start();
  return status.ok() ? Digest(restarted) : std::string(status.message());
}

// Waits until the log is on the disk.
void Flush(EnginePeer& peer) {
  peer.persistence().EndRound();
  while (peer.persistence().DurablePosition() < peer.persistence().WrittenPosition()) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

// Finishes the background work, too.
void Settle(EnginePeer& peer) {
  peer.persistence().EndRound();
  peer.Pass(Millis(10'000));
  Flush(peer);
}

class UnitChangesTest : public testing::Test {
 protected:
  void Start(bool log) {
    peer_ = std::make_unique<EnginePeer>(With(log));
    ASSERT_TRUE(peer_->persistence().Start().ok());
    peer_->engine().effects().set_stream(&stream_);
    digests_.insert(Digest(*peer_));
    operations_ = peer_->files().operations().size();
  }
  ~UnitChangesTest() override {
    if (peer_ != nullptr) peer_->engine().effects().set_stream(nullptr);
  }

  void Run(const Words& words) {
    trace_.push_back(words);
    trace_.push_back({Ask(*peer_, words)});
  }

  void RunTransaction(const std::vector<Words>& requests) {
    Run({"MULTI"});
    for (const Words& words : requests) Run(words);
    Run({"EXEC"});
  }

  // A follower of the stream has the same data. A server that starts with the files has the data
  // before or after some unit, whenever this server ended since the last check.
  void Check() {
    Settle(*peer_);
    const std::string digest = Digest(*peer_);
    digests_.insert(digest);
    EXPECT_EQ(follower_.Follow(stream_.TakeBytes()), "") << Trace();
    EXPECT_EQ(follower_.Digest(), digest) << Trace();
    const LogStatus status = peer_->persistence().log_status();
    if (status.enabled && status.has_base) {
      EXPECT_EQ(DigestAfterStart(peer_->files().contents(), true), digest) << Trace();
    }
    for (const size_t end = peer_->files().operations().size(); operations_ < end; ++operations_) {
      for (const MemoryFiles::Contents& disk : peer_->files().CrashStates(operations_ + 1)) {
        for (const bool log : {true, false}) {
          const std::string found = DigestAfterStart(disk, log);
          ASSERT_TRUE(digests_.contains(found))
              << found << " with appendonly " << log << " after operation " << operations_ << "\n"
              << Trace();
        }
      }
    }
  }

  std::string Trace() const {
    std::string text = "UNITS_SEED=" + std::to_string(seed_) + "\n";
    for (const Words& words : trace_) text += "  " + Plain(Multibulk(words)) + "\n";
    return text;
  }

  Words RandomRequest() {
    static const std::vector<Words> kWrites = {
        {"INCR", "n"},
        {"RPUSH", "l", "x"},
        {"APPEND", "s", "y"},
        {"EVAL", "redis.call('incr', 'n') redis.call('rpush', 'l', 'z')", "0"},
        {"SELECT", "3"},
        {"SELECT", "0"},
    };
    static const std::vector<Words> kChanges = {
        {"CONFIG", "SET", "appendonly", "yes"},
        {"CONFIG", "SET", "appendonly", "no"},
        {"CONFIG", "SET", "appendfsync", "everysec"},
        {"CONFIG", "SET", "appendfsync", "always"},
        {"BGREWRITEAOF"},
        {"BGSAVE"},
        {"FLUSHALL"},
        {"DEBUG", "RELOAD"},
        {"DEBUG", "LOADAOF"},
        {"INFO", "persistence"},
    };
    const auto& requests = rng_.Below(5) < 3 ? kWrites : kChanges;
    return requests[rng_.Below(requests.size())];
  }

  const uint64_t seed_ = Environment("UNITS_SEED", 1);
  const uint64_t steps_ = Environment("UNITS_STEPS", Steps(40));
  Rng rng_{seed_};
  Recorder stream_;
  EngineFollower follower_;
  std::unique_ptr<EnginePeer> peer_;
  std::set<std::string> digests_;  // after each unit
  size_t operations_ = 0;          // checked operations of the disk
  std::vector<Words> trace_;
};

TEST_F(UnitChangesTest, AreMadeBetweenTwoUnits) {
  std::printf("UNITS_SEED=%llu\n", static_cast<unsigned long long>(seed_));
  for (uint64_t step = 0; step < steps_ && !HasFailure(); ++step) {
    if (step % 20 == 0) {
      if (peer_ != nullptr) peer_->engine().effects().set_stream(nullptr);
      digests_.clear();
      trace_.clear();
      follower_.peer().Send("a", Multibulk({"FLUSHALL"}));
      Start(/*log=*/rng_.Below(2) == 0);
      peer_->engine().effects().ForgetDatabase();
    }
    std::vector<Words> requests;
    for (size_t left = 2 + rng_.Below(5); left > 0; --left) requests.push_back(RandomRequest());
    RunTransaction(requests);
    Check();
  }
}

TEST_F(UnitChangesTest, LogThatStartsWithinATransactionContainsEachWriteOnce) {
  Start(/*log=*/false);
  RunTransaction({{"RPUSH", "l", "x"},
                  {"INCR", "n"},
                  {"CONFIG", "SET", "appendonly", "yes"},
                  {"RPUSH", "l", "y"},
                  {"INCR", "n"}});
  Check();
  Run({"INCR", "n"});
  Check();
}

TEST_F(UnitChangesTest, LogThatEndsWithinATransactionContainsAllOfIt) {
  Start(/*log=*/true);
  RunTransaction({{"INCR", "n"}, {"CONFIG", "SET", "appendonly", "no"}, {"INCR", "n"}});
  Settle(*peer_);
  EXPECT_EQ(DigestAfterStart(peer_->files().contents(), true), Digest(*peer_)) << Trace();
  Check();
}

// This is the behaviour of Redis.
TEST_F(UnitChangesTest, LogBeginsWhenASnapshotThatIsBeingTakenIsComplete) {
  for (const Words& words : std::vector<Words>{{"BGSAVE"}, {"BGREWRITEAOF"}}) {
    Start(/*log=*/false);
    Run({"INCR", "n"});
    Check();
    Run(words);
    RunTransaction({{"INCR", "n"}, {"CONFIG", "SET", "appendonly", "yes"}, {"INCR", "n"}});
    Check();
    Check();  // the next attempt
    EXPECT_NE(Ask(*peer_, {"INFO", "persistence"}).find("aof_enabled:1"), std::string::npos);
    Run({"INCR", "n"});
    Check();
    peer_->engine().effects().set_stream(nullptr);
    follower_.peer().Send("a", Multibulk({"FLUSHALL"}));
  }
}

TEST_F(UnitChangesTest, FlushAndReloadInOneTransactionSaveItsEnd) {
  Start(/*log=*/false);
  Run({"SET", "old", "1"});
  Check();
  RunTransaction({{"FLUSHALL"}, {"INCR", "n"}, {"DEBUG", "RELOAD"}, {"INCR", "n"}});
  EXPECT_EQ(Ask(*peer_, {"GET", "n"}), "$1\r\n2\r\n");
  EXPECT_EQ(DigestAfterStart(peer_->files().contents(), false), Digest(*peer_)) << Trace();
  Check();
}

TEST_F(UnitChangesTest, ReloadInATransactionLoadsWhatItWrote) {
  Start(/*log=*/false);
  RunTransaction({{"INCR", "n"}, {"DEBUG", "RELOAD"}, {"INCR", "n"}});
  EXPECT_EQ(Ask(*peer_, {"GET", "n"}), "$1\r\n2\r\n") << Trace();
  EXPECT_EQ(DigestAfterStart(peer_->files().contents(), false), Digest(*peer_)) << Trace();
  for (const auto& [path, bytes] : peer_->files().contents()) {
    EXPECT_EQ(path.find("temp-"), std::string::npos) << path;
  }
  RunTransaction({{"INCR", "n"}, {"DEBUG", "RELOAD", "NOSAVE"}, {"INCR", "n"}});
  EXPECT_EQ(Ask(*peer_, {"GET", "n"}), "$1\r\n3\r\n") << "the file has 2\n" << Trace();
}

// The server ends while the script is suspended: by SHUTDOWN NOSAVE, or by two signals.
TEST_F(UnitChangesTest, ScriptThatDoesNotEndLeavesNothing) {
  const std::string body = "redis.call('set', 'a', 1) redis.call('set', 'b', 1) while true do end";
  const std::string library =
      "#!lua name=l\nredis.register_function('f', function() " + body + " end)";
  const std::vector<std::vector<Words>> runs = {
      {{"EVAL", body, "0"}},
      {{"FCALL", "f", "0"}},
      {{"MULTI"}, {"SET", "c", "1"}, {"EVAL", body, "0"}, {"SET", "d", "1"}, {"EXEC"}},
  };
  for (const std::vector<Words>& run : runs) {
    for (const bool leaves : {false, true}) {
      Start(/*log=*/true);
      Run({"FUNCTION", "LOAD", library});
      Check();
      const std::string digest = Digest(*peer_);
      for (const Words& words : std::span(run).first(run.size() - 1)) Run(words);
      peer_->Send("a", Multibulk(run.back()));  // Run() would await the script's end
      ASSERT_TRUE(peer_->engine().suspended_unit().IsOn());
      if (leaves) peer_->HangUp("a");
      EXPECT_TRUE(peer_->persistence().SaveBeforeExit(false, /*may_not=*/true).ok());
      peer_->persistence().SaveTheRest();
      // Ends the parts in the server's order.
      peer_->engine().effects().set_stream(nullptr);
      peer_->engine().effects().set_log(nullptr);
      Flush(*peer_);
      EXPECT_EQ(stream_.TakeBytes(), "");
      EXPECT_EQ(DigestAfterStart(peer_->files().contents(), true), digest) << Trace();
      peer_.reset();
      follower_.peer().Send("a", Multibulk({"FUNCTION", "FLUSH"}));
    }
  }
}

}  // namespace
}  // namespace zsetd::unit_changes_test
