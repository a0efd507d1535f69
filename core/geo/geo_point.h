#pragma once

namespace zsetd {

// A place on the globe, in degrees.
struct GeoPoint {
  double longitude = 0;
  double latitude = 0;
};

// The part of the globe that can be stored: the square of the Web Mercator map, EPSG:3857.
inline constexpr double kMaxLongitude = 180;
inline constexpr double kMaxLatitude = 85.05112878;

bool IsOnMap(const GeoPoint& point);

// The distance in metres along the surface, by the haversine formula and with Redis's radius of the
// earth.
double Distance(const GeoPoint& a, const GeoPoint& b);

// The distance in metres between two parallels.
double DistanceOfLatitudes(double a, double b);

// The length of this distance in degrees, along a great circle.
double DegreesOf(double metres);

double Radians(double degrees);

}  // namespace zsetd
