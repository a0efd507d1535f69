// The map is divided into cells. Each level halves every cell from west to east and from south to
// north. A cell's number interleaves the bits of its column and its row, so that the cells within a
// cell are neighbours in number too:
//
//     level 1             level 2
//     +---+---+           +----+----+----+----+
//     | 1 | 3 |           |  5 |  7 | 13 | 15 |
//     +---+---+           +----+----+----+----+
//     | 0 | 2 |           |  4 |  6 | 12 | 14 |
//     +---+---+           +----+----+----+----+
//                         |  1 |  3 |  9 | 11 |
//                         +----+----+----+----+
//                         |  0 |  2 |  8 | 10 |
//                         +----+----+----+----+
//
// A sorted set stores a place as the number of its cell of level 26, which is about 60 cm wide. The
// number has 52 bits, which a score holds exactly. So all places of a larger cell are one range of
// scores. Morton 1966, "A computer oriented geodetic data base"; the hash is G. Niemeyer's geohash
// with its own limits.
#pragma once

#include <cstdint>
#include <string>

#include "core/geo/geo_point.h"
#include "core/util/range.h"

namespace zsetd {

inline constexpr int kFinestLevel = 26;

// Columns and rows are counted from the south-west. A place on the eastern or northern edge of the
// map is in the cell after the last one.
struct GeoCell {
  uint32_t column = 0;
  uint32_t row = 0;
  int level = kFinestLevel;  // 1 .. kFinestLevel

  bool operator==(const GeoCell&) const = default;

  static GeoCell Of(const GeoPoint& point, int level);  // the point is on the map

  // The cell at this distance to the east and north, around the globe and over the poles.
  GeoCell Neighbor(int east, int north) const;

  // Its edges, in degrees.
  double west() const;
  double east() const;
  double south() const;
  double north() const;

  // The scores of the places within it.
  ScoreRange Scores() const;
};

// Convert a place on the map to its score, and a score to its place. Any score gives a place on the
// map.
double GeoScoreOf(const GeoPoint& point);
GeoPoint GeoPointOf(double score);

// The integer in a score of a place, as GEOSEARCH returns it.
uint64_t GeoHashOf(double score);

// The standard geohash of a place: eleven letters, which are more than 52 bits, so the last letter
// is always 0.
std::string GeohashText(const GeoPoint& point);

}  // namespace zsetd
