#include "core/geo/geo_area.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/util/rng.h"

namespace zsetd::geo_area_test {
namespace {

double Between(double min, double max, Rng& rng) {
  return min + (max - min) * static_cast<double>(rng.Below(1u << 30)) / (1u << 30);
}

// From a metre to a thousand kilometres; all magnitudes are equally likely.
double AnyLength(Rng& rng) { return std::pow(10, Between(0, 6, rng)); }

GeoArea AnyArea(Rng& rng) {
  GeoArea area = {.center = {Between(-180, 180, rng), Between(-75, 75, rng)}, .shape = {}};
  if (rng.Below(2) == 0) {
    area.shape = GeoCircle{AnyLength(rng)};
  } else {
    area.shape = GeoBox{AnyLength(rng), AnyLength(rng)};
  }
  return area;
}

// Near the area as often as far from it.
GeoPoint AnyPointNear(const GeoPoint& center, Rng& rng) {
  const double degrees = DegreesOf(2 * AnyLength(rng));
  const double stretch = 1 / std::cos(Radians(center.latitude));
  double longitude = center.longitude + Between(-degrees, degrees, rng) * stretch;
  if (longitude > kMaxLongitude) longitude -= 360;
  if (longitude < -kMaxLongitude) longitude += 360;
  const double latitude = center.latitude + Between(-degrees, degrees, rng);
  return {longitude, std::clamp(latitude, -kMaxLatitude, kMaxLatitude)};
}

TEST(GeoArea, CellsCoverTheWholeArea) {
  Rng rng(1);
  int within = 0;
  for (int i = 0; i < 3000; ++i) {
    SCOPED_TRACE("area " + std::to_string(i));
    const GeoArea area = AnyArea(rng);
    const std::vector<GeoCell> cells = CellsOf(area);
    ASSERT_LE(cells.size(), 9u);
    for (int j = 0; j < 50; ++j) {
      const GeoPoint point = AnyPointNear(area.center, rng);
      if (!area.DistanceTo(point)) continue;
      ++within;
      const GeoCell cell = GeoCell::Of(point, cells[0].level);
      ASSERT_NE(std::ranges::find(cells, cell), cells.end())
          << area.center.longitude << "," << area.center.latitude << " to " << point.longitude
          << "," << point.latitude;
    }
  }
  EXPECT_GT(within, 10000);
}

TEST(GeoArea, CellsAreFewAndSmall) {
  const GeoArea area = {.center = {13.4, 52.5}, .shape = GeoCircle{1000}};
  double degrees = 0;
  for (const GeoCell& cell : CellsOf(area)) degrees += cell.east() - cell.west();
  EXPECT_LT(degrees, 1);
}

TEST(GeoArea, ContainsItsBorder) {
  const GeoPoint center = {10, 50}, point = {10, 51};
  const double distance = Distance(center, point);
  EXPECT_EQ(distance, DistanceOfLatitudes(50, 51));
  EXPECT_TRUE((GeoArea{center, GeoCircle{distance}}.DistanceTo(point)));
  EXPECT_FALSE((GeoArea{center, GeoCircle{distance * 0.999999}}.DistanceTo(point)));
  EXPECT_TRUE((GeoArea{center, GeoBox{0, 2 * distance}}.DistanceTo(point)));
  EXPECT_FALSE((GeoArea{center, GeoBox{1e6, 1.999999 * distance}}.DistanceTo(point)));
  EXPECT_EQ((GeoArea{center, GeoBox{0, 0}}.DistanceTo(center)), 0);
}

TEST(GeoArea, WholeGlobeIsCovered) {
  for (const double radius : {2.1e7, 1e12, HUGE_VAL}) {
    const GeoArea area = {.center = {100, -80}, .shape = GeoCircle{radius}};
    const std::vector<GeoCell> cells = CellsOf(area);
    EXPECT_EQ(cells.size(), 4u);
    EXPECT_EQ(cells[0].level, 1);
    EXPECT_TRUE(area.DistanceTo({-80, 80}));
  }
}

}  // namespace
}  // namespace zsetd::geo_area_test
