#include "core/sorted_set/block/deadline_column.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/util/rng.h"

namespace zsetd {
namespace {

// A column and a model of its deadlines. The allocation has a header and exactly the column's
// bytes.
class ColumnRun {
 public:
  explicit ColumnRun(uint64_t seed)
      : rng_(seed), spread_(rng_.Below(47)), base_(1 + rng_.Below(kMostDeadline - 1)) {}

  void Run() {
    deadlines_.push_back(SomeDeadline());
    Rewrite(0);
    for (int step = 0; step < 400 && !testing::Test::HasFatalFailure(); ++step) {
      Step();
      ExpectSame();
    }
  }

 private:
  static constexpr size_t kHeader = 8;  // bytes

  uint64_t SomeDeadline() {
    const uint64_t deadline = base_ + rng_.Below(uint64_t{1} << spread_);
    return std::min(deadline, kMostDeadline);
  }

  void Step() {
    const size_t count = deadlines_.size(), at = rng_.Below(count);
    switch (rng_.Below(6)) {
      case 0:
        return Set(at, kNoDeadline);
      case 1:
        if (count == 1) return;
        return Erase(at, rng_.Below(10) > 0 || at == 0 ? at + 1 : count);
      case 2:
      case 3:
        return count < 255 ? Insert(rng_.Below(count + 1)) : Erase(0, count / 2);
      default:
        return Set(at, SomeDeadline());
    }
  }

  void Insert(size_t i) {
    const size_t count = deadlines_.size();
    bytes_.resize(kHeader + Column().Bytes(count + 1));
    Column().Insert(i, count);
    deadlines_.insert(deadlines_.begin() + i, kNoDeadline);
  }

  void Erase(size_t first, size_t last) {
    const size_t count = deadlines_.size();
    Column().Erase(first, last, count);
    deadlines_.erase(deadlines_.begin() + first, deadlines_.begin() + last);
    bytes_.resize(kHeader + Column().Bytes(deadlines_.size()));
  }

  void Set(size_t i, uint64_t deadline) {
    deadlines_[i] = deadline;
    const DeadlineFrame frame = Column().frame();
    if (frame.Holds(deadline)) return Column().Set(i, deadline);
    Rewrite(i);
    const DeadlineFrame wider = Column().frame();
    EXPECT_TRUE(wider.base != frame.base || wider.width != frame.width);
  }

  void Rewrite(size_t added) {
    const auto frame = DeadlineFrame::Covering(deadlines_, added);
    std::vector<char>(kHeader + DeadlineColumn::Bytes(frame, deadlines_.size())).swap(bytes_);
    Column().Write(frame, deadlines_);
  }

  void ExpectSame() {
    const size_t count = deadlines_.size();
    ASSERT_EQ(bytes_.size(), kHeader + Column().Bytes(count));
    bytes_.shrink_to_fit();
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(Column().Deadline(i), deadlines_[i]) << i;
    const size_t first = rng_.Below(count), last = first + rng_.Below(count - first + 1);
    uint64_t earliest = kNoDeadline;
    for (size_t i = first; i < last; ++i) earliest = std::min(earliest, deadlines_[i]);
    ASSERT_EQ(Column().Earliest(first, last), earliest);
    const bool has_any = std::any_of(deadlines_.begin(), deadlines_.end(),
                                     [](uint64_t deadline) { return deadline != kNoDeadline; });
    ASSERT_EQ(Column().HasAny(count), has_any);
    ASSERT_EQ(std::vector<char>(bytes_.begin(), bytes_.begin() + kHeader),
              std::vector<char>(kHeader));
  }

  DeadlineColumn Column() { return DeadlineColumn(bytes_.data() + kHeader); }

  Rng rng_;
  uint64_t spread_;  // bits
  uint64_t base_;
  std::vector<uint64_t> deadlines_;
  std::vector<char> bytes_;
};

TEST(DeadlineColumn, HasTheDeadlinesOfTheModel) {
  for (uint64_t seed = 1; seed <= 300 && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ColumnRun(seed).Run();
  }
}

int WidthOf(std::vector<uint64_t> deadlines) { return DeadlineFrame::Covering(deadlines).width; }

TEST(DeadlineFrame, TakesTheBitsOfTheRange) {
  constexpr uint64_t kNow = 1'790'000'000'000, kDay = 86'400'000;
  EXPECT_EQ(WidthOf({kNow}), 1);
  EXPECT_EQ(WidthOf({kNow, kNoDeadline, kNow}), 1);
  EXPECT_EQ(WidthOf({kNow + 60'000, kNow}), 17);
  EXPECT_EQ(WidthOf({kNow, kNow + kDay}), 27);
  EXPECT_EQ(WidthOf({kNow, kNow + 7 * kDay}), 30);
  EXPECT_EQ(WidthOf({kMostDeadline, 1}), DeadlineFrame::kMostWidth);
}

TEST(DeadlineFrame, EncodesTheFirstTheLastAndNoDeadline) {
  for (const std::vector<uint64_t>& deadlines :
       {std::vector<uint64_t>{1, kMostDeadline}, {kMostDeadline, kMostDeadline - 1}, {2, 1}}) {
    for (const auto added : {std::optional<size_t>(), std::optional<size_t>(1)}) {
      const auto frame = DeadlineFrame::Covering(deadlines, added);
      EXPECT_GE(frame.base, 1u);
      for (const uint64_t deadline : {deadlines[0], deadlines[1], kNoDeadline}) {
        ASSERT_TRUE(frame.Holds(deadline));
        EXPECT_EQ(frame.Unpack(frame.Pack(deadline)), deadline);
      }
    }
  }
}

TEST(DeadlineFrame, LeavesRoomForLaterDeadlines) {
  constexpr uint64_t kNow = 1'790'000'000'000;
  for (uint64_t range = 100; range < uint64_t{1} << 40; range = range * 5 / 4) {
    const auto frame = DeadlineFrame::Covering(std::vector<uint64_t>{kNow, kNow + range});
    EXPECT_TRUE(frame.Holds(kNow + range + range / 8 - 1)) << range;
  }
}

}  // namespace
}  // namespace zsetd
