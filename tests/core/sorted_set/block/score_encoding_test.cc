#include "core/sorted_set/block/score_encoding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/util/rng.h"

namespace zsetd::score_encoding_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ScoreCode, KeepsOrderAndIsReversible) {
  std::vector<double> scores = {-kInfinity, -1e308, -2.5, -1, -5e-324, 0,
                                5e-324,     0.1,    1,    3,  1e308,   kInfinity};
  for (size_t i = 0; i < scores.size(); ++i) {
    EXPECT_EQ(ScoreOf(ScoreCode(scores[i])), scores[i]);
    if (i > 0) {
      EXPECT_LT(ScoreCode(scores[i - 1]), ScoreCode(scores[i]));
    }
  }
}

TEST(ScoreFrame, TimestampsTakeFewBytes) {
  const double first = 1'790'000'000, last = first + 127;
  uint64_t differing = 0;
  for (double t = first; t <= last; ++t) differing |= ScoreCode(t) ^ ScoreCode(first);
  const auto frame = ScoreFrame::Covering(ScoreCode(first), ScoreCode(last), differing);
  EXPECT_EQ(frame.width, 1);
  for (double t = first; t <= last; ++t) {
    ASSERT_TRUE(frame.Holds(ScoreCode(t)));
    EXPECT_EQ(ScoreOf(frame.Unpack(frame.Pack(ScoreCode(t)))), t);
  }
  EXPECT_FALSE(frame.Holds(ScoreCode(first - 1)));
  EXPECT_FALSE(frame.Holds(ScoreCode(first + 0.5)));
  EXPECT_FALSE(frame.Holds(ScoreCode(first + 1000)));
}

TEST(ScoreFrame, EncodesAllScoresInItsRange) {
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    std::vector<uint64_t> codes(1 + rng.Below(20));
    const int zeros = rng.Below(64), range = rng.Below(64);
    for (uint64_t& code : codes) code = rng.Next() >> range << zeros;
    uint64_t differing = 0;
    for (const uint64_t code : codes) differing |= code ^ codes[0];
    const auto [min, max] = std::minmax_element(codes.begin(), codes.end());
    const auto frame = ScoreFrame::Covering(*min, *max, differing);
    for (const uint64_t code : codes) {
      ASSERT_TRUE(frame.Holds(code));
      ASSERT_EQ(frame.Unpack(frame.Pack(code)), code);
      ASSERT_EQ(frame.StepsUp(code), frame.Pack(code));
    }
    const uint64_t between = *min + (*max - *min) / 2;
    ASSERT_EQ(frame.StepsUp(between), frame.Pack(between) + !frame.Holds(between));
  }
}

TEST(PackedInteger, LeavesItsNeighboursAlone) {
  for (int width = 0; width <= 8; ++width) {
    char bytes[32];
    std::fill(std::begin(bytes), std::end(bytes), '\x5A');
    const uint64_t value = 0x0123456789ABCDEF & PackedMax(width);
    StorePacked(bytes + 16, width, value);
    EXPECT_EQ(LoadPacked(bytes + 16, width), value);
    EXPECT_EQ(std::count(bytes, bytes + 16, '\x5A'), 16);
    EXPECT_EQ(std::count(bytes + 16 + width, bytes + 32, '\x5A'), 16 - width);
    EXPECT_LE(PackedWidth(value), width);
    EXPECT_EQ(PackedWidth(PackedMax(width)), width);
  }
}

}  // namespace
}  // namespace zsetd::score_encoding_test
