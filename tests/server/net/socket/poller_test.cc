#include "server/net/socket/poller.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace zsetd {
namespace {

// One end of a connection, which records the poller's calls. The test holds the other end.
class Peer : public Polled, public std::enable_shared_from_this<Peer> {
 public:
  Peer(char name, std::string& log) : name_(name), log_(log) {
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_), 0);
  }
  ~Peer() override {
    close(ends_[0]);
    close(ends_[1]);
  }

  bool records_all_steps = false;  // also those that most tests do not need

  int descriptor() const { return ends_[0]; }
  void Say() { EXPECT_EQ(write(ends_[1], "x", 1), 1); }
  void CloseHalf() { EXPECT_EQ(shutdown(ends_[1], SHUT_WR), 0); }
  void Break() {
    close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::shared_ptr<Polled> Self() override { return shared_from_this(); }
  void Receive() override {
    Record("receives");
    if (has_ended()) Record("has ended");
    if (has_broken()) Record("has broken");
  }
  void Announce() override { RecordStep("announces"); }
  void Serve() override { Record("serves"); }
  void Collect() override { RecordStep("collects"); }
  void Send() override { Record("sends"); }
  void RecordStep(const char* what) {
    if (records_all_steps) Record(what);
  }
  void Record(const char* what) { log_ += std::string(1, name_) + " " + what + "\n"; }

  char name_;
  std::string& log_;
  int ends_[2];
};

class PollerTest : public testing::Test {
 protected:
  void TearDown() override {
    poller_.Forget(a_->descriptor(), *a_);
    poller_.Forget(b_->descriptor(), *b_);
  }

  std::string RunRound() {
    log_.clear();
    EXPECT_TRUE(poller_.RunRound(Millis(0), {}));
    return log_;
  }

  std::string log_;
  std::shared_ptr<Peer> a_ = std::make_shared<Peer>('a', log_);
  std::shared_ptr<Peer> b_ = std::make_shared<Peer>('b', log_);
  Poller poller_;
};

TEST_F(PollerTest, ServesNoConnectionBeforeAllReadyOnesHaveReceived) {
  ASSERT_TRUE(poller_.Watch(a_->descriptor(), *a_, {.reads = true}));
  ASSERT_TRUE(poller_.Watch(b_->descriptor(), *b_, {.reads = true}));
  EXPECT_EQ(RunRound(), "");
  a_->Say();
  EXPECT_EQ(RunRound(), "a receives\na serves\na sends\n");
  b_->Say();
  EXPECT_EQ(RunRound(), "a receives\nb receives\na serves\nb serves\na sends\nb sends\n");
}

TEST_F(PollerTest, CallsTheHooksAroundTheStepsThatUseTheEngine) {
  ASSERT_TRUE(poller_.Watch(a_->descriptor(), *a_, {.reads = true}));
  ASSERT_TRUE(poller_.Watch(b_->descriptor(), *b_, {.reads = true}));
  for (Peer* peer : {a_.get(), b_.get()}) {
    peer->records_all_steps = true;
    peer->Say();
  }
  log_.clear();
  EXPECT_TRUE(poller_.RunRound(Millis(0), {.before_engine = [this] { log_ += "engine opens\n"; },
                                           .after_serving = [this] { log_ += "round ends\n"; },
                                           .after_engine = [this] { log_ += "engine closes\n"; }}));
  EXPECT_EQ(log_,
            "a receives\nb receives\nengine opens\na announces\nb announces\na serves\nb serves\n"
            "round ends\na collects\nb collects\nengine closes\na sends\nb sends\n");
}

TEST_F(PollerTest, CallsOnlyConnectionsThatWatch) {
  a_->Say();
  EXPECT_EQ(RunRound(), "");
  ASSERT_TRUE(poller_.Watch(a_->descriptor(), *a_, {.writes = true}));
  EXPECT_EQ(RunRound(), "a receives\na serves\na sends\n");
  ASSERT_TRUE(poller_.Watch(a_->descriptor(), *a_, {}));
  EXPECT_EQ(RunRound(), "");
}

// Level-triggered: without interest in the end, it would be reported in every round.
TEST_F(PollerTest, ReportsTheEndIfRequested) {
  a_->Say();
  a_->CloseHalf();
  ASSERT_TRUE(poller_.Watch(a_->descriptor(), *a_, {}));
  EXPECT_EQ(RunRound(), "");
  ASSERT_TRUE(poller_.Watch(a_->descriptor(), *a_, {.end = true}));
  EXPECT_EQ(RunRound(), "a receives\na has ended\na serves\na sends\n");
}

TEST_F(PollerTest, ReportsABrokenConnectionToAnyWatcher) {
  a_->Say();
  ASSERT_TRUE(poller_.Watch(a_->descriptor(), *a_, {}));
  EXPECT_EQ(RunRound(), "");
  a_->Break();
  EXPECT_EQ(RunRound(), "a receives\na has broken\na serves\na sends\n");
  poller_.Forget(a_->descriptor(), *a_);
  EXPECT_EQ(RunRound(), "");
}

TEST_F(PollerTest, CallsAWokenConnectionOnce) {
  poller_.Wake(*b_);
  poller_.Wake(*b_);
  EXPECT_EQ(RunRound(), "b serves\nb sends\n");
  EXPECT_EQ(RunRound(), "");
}

TEST_F(PollerTest, CallsAReadyAndWokenConnectionOnce) {
  ASSERT_TRUE(poller_.Watch(a_->descriptor(), *a_, {.reads = true}));
  a_->Say();
  poller_.Wake(*a_);
  EXPECT_EQ(RunRound(), "a receives\na serves\na sends\n");
}

TEST_F(PollerTest, DoesNotWaitIfAConnectionWasWoken) {
  poller_.Wake(*a_);
  EXPECT_TRUE(poller_.RunRound(Millis(600'000), {}));
  EXPECT_EQ(log_, "a serves\na sends\n");
}

TEST_F(PollerTest, AnotherThreadEndsTheWaitOnce) {
  std::thread other([this] {
    poller_.Wake(*a_);
    poller_.Wake(*a_);
    poller_.Wake(*b_);
  });
  EXPECT_TRUE(poller_.RunRound(Millis(600'000), {}));
  other.join();
  while (log_.find("b sends") == std::string::npos) {
    EXPECT_TRUE(poller_.RunRound(Millis(600'000), {}));
  }
  EXPECT_EQ(RunRound(), "");
  EXPECT_EQ(RunRound(), "") << "the signal is cleared";
}

TEST_F(PollerTest, CallsAConnectionOnceThatIsReadyAndWokenByAnyThread) {
  ASSERT_TRUE(poller_.Watch(a_->descriptor(), *a_, {.reads = true}));
  a_->Say();
  poller_.Wake(*a_);
  std::thread([this] { poller_.Wake(*a_); }).join();
  EXPECT_EQ(RunRound(), "a receives\na serves\na sends\n");
}

TEST_F(PollerTest, AWokenConnectionLivesUntilItsRound) {
  std::weak_ptr<Peer> ended;
  std::thread([&] {
    const auto peer = std::make_shared<Peer>('c', log_);
    ended = peer;
    poller_.Wake(*peer);
  }).join();
  EXPECT_FALSE(ended.expired());
  EXPECT_EQ(RunRound(), "c serves\nc sends\n");
  EXPECT_TRUE(ended.expired());
}

TEST_F(PollerTest, NotifiesInItsOwnWay) {
  std::vector<const WakeSignal*> due;
  Poller poller([&](const WakeSignal& signal) { due.push_back(&signal); });
  std::thread([&] {
    poller.Wake(*a_);
    poller.Wake(*b_);
  }).join();
  EXPECT_EQ(due, std::vector{&poller.signal()});
  EXPECT_TRUE(poller.RunRound(Millis(600'000), {})) << "it does not wait although no signal came";
  EXPECT_EQ(log_, "a serves\nb serves\na sends\nb sends\n");
}

}  // namespace
}  // namespace zsetd
