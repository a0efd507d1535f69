#include "server/engine/store/memory_gauge.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace zsetd {
namespace {

class MemoryGaugeTest : public testing::Test {
 protected:
  size_t measured_ = 1'000'000;
  MemoryGauge gauge_{[this] { return measured_; }, {}};
  std::vector<std::shared_ptr<void>> heap_;
  MemoryGauge::FreeFunction discard_ = [this](std::shared_ptr<void> garbage) {
    heap_.push_back(std::move(garbage));
  };
};

TEST_F(MemoryGaugeTest, DiscardedValuesCountAsFree) {
  gauge_.FreeInBackground(std::make_shared<std::string>("garbage"), 400'000, 1, discard_);
  EXPECT_EQ(gauge_.Used(), 600'000u);
  EXPECT_EQ(gauge_.pending_objects(), 1u);
  EXPECT_EQ(gauge_.freed_objects(), 0u);
  measured_ -= 400'000;
  heap_.clear();
  EXPECT_EQ(gauge_.Used(), 600'000u) << "once, not twice";
  EXPECT_EQ(gauge_.pending_objects(), 0u);
  EXPECT_EQ(gauge_.freed_objects(), 1u);
}

TEST_F(MemoryGaugeTest, TheContentIsFreedBeforeItCountsAsFreed) {
  size_t pending = 0;
  std::shared_ptr<void> garbage(new int, [&](int* content) {
    pending = gauge_.pending_objects();
    delete content;
  });
  gauge_.FreeInBackground(std::move(garbage), 4, 1, discard_);
  heap_.clear();
  EXPECT_EQ(pending, 1u);
}

TEST_F(MemoryGaugeTest, CountsTheThreadsThatRunRequests) {
  uint64_t taken[] = {700'000, 5'000};
  uint64_t freed[] = {100'000, 2'000};
  const ThreadCounts counts[] = {{&taken[0], &freed[0]}, {&taken[1], &freed[1]}};
  MemoryGauge gauge([this] { return measured_; }, counts[0]);
  EXPECT_EQ(gauge.Used(), 1'000'000u);
  gauge.AddThread(counts[1]);
  EXPECT_EQ(gauge.Used(), 1'000'000u) << "its memory was measured before";
  taken[0] += 50'000;
  taken[1] += 30'000;
  freed[1] += 60'000;  // of the first thread's
  EXPECT_EQ(gauge.Used(), 1'020'000u);
  gauge.RemoveThread(counts[1]);
  EXPECT_EQ(gauge.Used(), 1'020'000u);
  taken[1] = freed[1] = 0;
  EXPECT_EQ(gauge.Used(), 1'020'000u);
}

TEST_F(MemoryGaugeTest, UncountedBytesAreNotUsed) {
  gauge_.uncounted_bytes() += 300'000;
  EXPECT_EQ(gauge_.Used(), 700'000u);
  uint64_t taken = 700'000;
  uint64_t freed = 100'000;
  MemoryGauge gauge([this] { return measured_; }, {.taken = &taken, .freed = &freed});
  gauge.uncounted_bytes() += 300'000;
  EXPECT_EQ(gauge.Used(), 700'000u);
  taken += 50'000;
  gauge.uncounted_bytes() += 50'000;
  EXPECT_EQ(gauge.Used(), 700'000u);
  gauge.Calibrate();
  gauge.uncounted_bytes() -= 350'000;
  EXPECT_EQ(gauge.Used(), 1'000'000u);
}

TEST_F(MemoryGaugeTest, NeverReportsLessThanZero) {
  gauge_.FreeInBackground(std::make_shared<int>(), 2'000'000, 1, discard_);
  EXPECT_EQ(gauge_.Used(), 0u);
}

TEST_F(MemoryGaugeTest, CountsBetweenTwoMeasurements) {
  uint64_t taken = 700'000;
  uint64_t freed = 100'000;
  MemoryGauge gauge([this] { return measured_; }, {.taken = &taken, .freed = &freed});
  EXPECT_EQ(gauge.Used(), 1'000'000u) << "others have taken 400,000";
  taken += 50'000;
  freed += 20'000;
  EXPECT_EQ(gauge.Used(), 1'030'000u);
  gauge.FreeInBackground(std::make_shared<int>(), 100'000, 1, discard_);
  measured_ = 1'200'000;
  gauge.Calibrate();
  EXPECT_EQ(gauge.Used(), 930'000u) << "a figure taken while memory is being freed is ignored";
  heap_.clear();
  gauge.Calibrate();
  EXPECT_EQ(gauge.Used(), 1'200'000u);
}

}  // namespace
}  // namespace zsetd
