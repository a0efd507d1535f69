#include "core/geo/geo_cell.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "core/util/rng.h"

namespace zsetd::geo_cell_test {
namespace {

double Between(double min, double max, Rng& rng) {
  return min + (max - min) * static_cast<double>(rng.Below(1u << 30)) / (1u << 30);
}

GeoPoint AnyPoint(Rng& rng) {
  return {Between(-kMaxLongitude, kMaxLongitude, rng), Between(-kMaxLatitude, kMaxLatitude, rng)};
}

// The examples in Redis's documentation.
TEST(GeoCell, ScoresAndGeohashesEqualRediss) {
  const GeoPoint palermo = {13.361389, 38.115556}, catania = {15.087269, 37.502669};
  EXPECT_EQ(GeoScoreOf(palermo), 3479099956230698);
  EXPECT_EQ(GeoScoreOf(catania), 3479447370796909);
  EXPECT_EQ(GeohashText(GeoPointOf(GeoScoreOf(palermo))), "sqc8b49rny0");
  EXPECT_EQ(GeohashText(GeoPointOf(GeoScoreOf(catania))), "sqdtr74hyu0");
  EXPECT_NEAR(Distance(GeoPointOf(GeoScoreOf(palermo)), GeoPointOf(GeoScoreOf(catania))),
              166274.1516, 0.0001);
}

TEST(GeoCell, ScoreKeepsAPlaceToHalfAMetre) {
  Rng rng(1);
  for (int i = 0; i < 10000; ++i) {
    const GeoPoint point = AnyPoint(rng);
    const double score = GeoScoreOf(point);
    ASSERT_LT(Distance(GeoPointOf(score), point), 0.5);
    ASSERT_EQ(GeoScoreOf(GeoPointOf(score)), score);
  }
}

TEST(GeoCell, ContainsItsPointsAndTheirScores) {
  Rng rng(2);
  for (int i = 0; i < 10000; ++i) {
    const GeoPoint point = AnyPoint(rng), other = AnyPoint(rng);
    const int level = 1 + static_cast<int>(rng.Below(kFinestLevel));
    const GeoCell cell = GeoCell::Of(point, level);
    ASSERT_LE(cell.west(), point.longitude);
    ASSERT_GE(cell.east(), point.longitude);
    ASSERT_LE(cell.south(), point.latitude);
    ASSERT_GE(cell.north(), point.latitude);
    for (const GeoPoint& each : {point, other}) {
      const double score = GeoScoreOf(each);
      const ScoreRange scores = cell.Scores();
      const bool within = score >= scores.min.score && score < scores.max.score;
      ASSERT_EQ(within, GeoCell::Of(each, level) == cell);
    }
  }
}

TEST(GeoCell, NeighborsTouchAndGoAroundTheGlobe) {
  for (int level = 1; level <= kFinestLevel; ++level) {
    const GeoCell cell = GeoCell::Of({0.1, 0.1}, level);
    EXPECT_EQ(cell.Neighbor(-1, 0).east(), cell.west());
    EXPECT_EQ(cell.Neighbor(0, -1).north(), cell.south());
    EXPECT_EQ(cell.Neighbor(1, 1).Neighbor(-1, -1), cell);
    const GeoCell west = GeoCell::Of({-180, 10}, level),
                  east = GeoCell::Of({179.9999999, 10}, level);
    EXPECT_EQ(west.Neighbor(-1, 0), east);
    EXPECT_EQ(east.Neighbor(1, 0), west);
  }
}

TEST(GeoCell, AnyScoreIsAPlaceOnTheMap) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double score : {-1.0, 0.5, 1e17, 1.8e19, 1e30, -1e30, kInfinity, -kInfinity}) {
    EXPECT_TRUE(IsOnMap(GeoPointOf(score))) << score;
  }
  EXPECT_TRUE(IsOnMap(GeoPointOf(GeoScoreOf({kMaxLongitude, kMaxLatitude}))));
}

}  // namespace
}  // namespace zsetd::geo_cell_test
