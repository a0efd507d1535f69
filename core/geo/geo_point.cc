#include "core/geo/geo_point.h"

#include <cmath>
#include <numbers>

namespace zsetd {
namespace {

constexpr double kEarthRadius = 6372797.560856;  // metres, the value that Redis uses
constexpr double kRadiansPerDegree = std::numbers::pi / 180;

}  // namespace

bool IsOnMap(const GeoPoint& point) {
  return std::abs(point.longitude) <= kMaxLongitude && std::abs(point.latitude) <= kMaxLatitude;
}

double Radians(double degrees) { return degrees * kRadiansPerDegree; }

double DegreesOf(double metres) { return metres / kEarthRadius / kRadiansPerDegree; }

double DistanceOfLatitudes(double a, double b) {
  return kEarthRadius * std::abs(Radians(b) - Radians(a));
}

// The order of the operations affects the last digits. The order is that of Redis.
double Distance(const GeoPoint& a, const GeoPoint& b) {
  const double v = std::sin((Radians(b.longitude) - Radians(a.longitude)) / 2);
  if (v == 0) return DistanceOfLatitudes(a.latitude, b.latitude);
  const double a_latitude = Radians(a.latitude), b_latitude = Radians(b.latitude);
  const double u = std::sin((b_latitude - a_latitude) / 2);
  const double haversine = u * u + std::cos(a_latitude) * std::cos(b_latitude) * v * v;
  return 2 * kEarthRadius * std::asin(std::sqrt(haversine));
}

}  // namespace zsetd
