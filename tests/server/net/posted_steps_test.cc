#include "server/net/posted_steps.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "server/process/clock.h"

namespace zsetd {
namespace {

class PostedStepsTest : public testing::Test {
 protected:
  PostedStepsTest() : steps_(std::make_shared<PostedSteps>(poller_)) { steps_->Start(); }

  void RunRound() { poller_.RunRound(Millis(1000), {}); }

  Poller poller_;
  std::shared_ptr<PostedSteps> steps_;
};

TEST_F(PostedStepsTest, RunInTheOrderOfArrivalAndAgainWhileTheyReturnTrue) {
  std::string ran;
  std::thread other([&] {
    steps_->Post([&ran, left = 3]() mutable {
      ran += 'a';
      return --left > 0;
    });
    steps_->Post([&ran] {
      ran += 'b';
      return false;
    });
  });
  other.join();
  for (int round = 0; round < 10 && ran.size() < 4; ++round) RunRound();
  EXPECT_EQ(ran, "aaab");
}

TEST_F(PostedStepsTest, ARoundEndsAfterASlowStep) {
  int runs = 0;
  steps_->Post([&runs] {
    const Micros until = MonotonicNow() + Micros(1000);
    while (MonotonicNow() < until) {
    }
    return ++runs < 3;
  });
  for (int round = 1; round <= 3; ++round) {
    RunRound();
    EXPECT_EQ(runs, round);
  }
}

TEST_F(PostedStepsTest, AStepMayPostAnother) {
  int runs = 0;
  steps_->Post([&] {
    steps_->Post([&runs] {
      ++runs;
      return false;
    });
    return false;
  });
  for (int round = 0; round < 10 && runs == 0; ++round) RunRound();
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace zsetd
