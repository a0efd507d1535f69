#include "core/geo/geo_area.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace zsetd {
namespace {

// Half of the area's extent from west to east and from south to north, and the distance of its
// farthest point from the center.
struct Reach {
  double across;
  double up;
  double farthest;
};

Reach ReachOf(const GeoCircle& circle) { return {circle.radius, circle.radius, circle.radius}; }
Reach ReachOf(const GeoBox& box) {
  const double across = box.width / 2, up = box.height / 2;
  return {across, up, std::sqrt(across * across + up * up)};
}

// The bounds of the area, in degrees.
struct Frame {
  double west, east, south, north;
};

// Degrees of longitude shrink towards the poles, so the edge nearer to a pole decides.
Frame FrameOf(const GeoPoint& center, const Reach& reach) {
  const double up = DegreesOf(reach.up);
  const double narrowest = center.latitude + (center.latitude < 0 ? -up : up);
  const double across = DegreesOf(reach.across / std::cos(Radians(narrowest)));
  return {center.longitude - across, center.longitude + across, center.latitude - up,
          center.latitude + up};
}

// The finest level at which a cell and its neighbours cover the reach.
int LevelFor(double metres, double latitude) {
  constexpr double kHalfEquator = 20037726.37;  // metres; the map is twice as wide
  if (metres == 0) return kFinestLevel;
  int level = -1;
  for (; metres < kHalfEquator; metres *= 2) ++level;
  // Cells narrow towards the poles.
  if (std::abs(latitude) > 66) --level;
  if (std::abs(latitude) > 80) --level;
  return std::clamp(level, 1, kFinestLevel);
}

// Whether the frame ends before the far edges of the neighbours.
bool ReachesAround(const GeoCell& cell, const Frame& frame) {
  return cell.Neighbor(0, 1).north() >= frame.north &&
         cell.Neighbor(0, -1).south() <= frame.south && cell.Neighbor(1, 0).east() >= frame.east &&
         cell.Neighbor(-1, 0).west() <= frame.west;
}

// The position of a cell relative to another, in cells to the east and to the north.
struct Direction {
  int east;
  int north;
};

// The order of cells in unsorted results of GEORADIUS.
constexpr Direction kDirections[] = {{0, 0}, {0, 1},  {0, -1}, {1, 0},  {-1, 0},
                                     {1, 1}, {1, -1}, {-1, 1}, {-1, -1}};

// Whether the area ends before the cell's edge on that side.
bool IsOutOfReach(const GeoCell& cell, const Frame& frame, const Direction& direction) {
  return (direction.north < 0 && cell.south() < frame.south) ||
         (direction.north > 0 && cell.north() > frame.north) ||
         (direction.east < 0 && cell.west() < frame.west) ||
         (direction.east > 0 && cell.east() > frame.east);
}

std::optional<double> DistanceWithin(const GeoCircle& circle, const GeoPoint& center,
                                     const GeoPoint& point) {
  const double distance = Distance(center, point);
  return distance > circle.radius ? std::nullopt : std::optional(distance);
}

// The width is measured along the point's own parallel.
std::optional<double> DistanceWithin(const GeoBox& box, const GeoPoint& center,
                                     const GeoPoint& point) {
  if (DistanceOfLatitudes(point.latitude, center.latitude) > box.height / 2) return std::nullopt;
  const GeoPoint beside = {center.longitude, point.latitude};
  if (Distance(point, beside) > box.width / 2) return std::nullopt;
  return Distance(center, point);
}

}  // namespace

std::optional<double> GeoArea::DistanceTo(const GeoPoint& point) const {
  return std::visit([&](const auto& each) { return DistanceWithin(each, center, point); }, shape);
}

// The cells and their order are those of Redis, so that unsorted replies are equal.
std::vector<GeoCell> CellsOf(const GeoArea& area) {
  const Reach reach = std::visit([](const auto& shape) { return ReachOf(shape); }, area.shape);
  const Frame frame = FrameOf(area.center, reach);
  int level = LevelFor(reach.farthest, area.center.latitude);
  GeoCell middle = GeoCell::Of(area.center, level);
  if (level > 1 && !ReachesAround(middle, frame)) middle = GeoCell::Of(area.center, --level);

  std::vector<GeoCell> cells;
  for (const Direction& direction : kDirections) {
    if (level > 1 && IsOutOfReach(middle, frame, direction)) continue;
    const GeoCell cell = middle.Neighbor(direction.east, direction.north);
    if (std::ranges::find(cells, cell) == cells.end()) cells.push_back(cell);
  }
  return cells;
}

}  // namespace zsetd
