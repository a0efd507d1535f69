#include "core/geo/geo_cell.h"

#include <algorithm>
#include <string_view>

namespace zsetd {
namespace {

// One axis of the map.
struct Axis {
  double min;
  double max;

  // The number of the 2^level parts that are before `degrees`.
  uint32_t PartOf(double degrees, int level) const {
    const double share = (degrees - min) / (max - min);
    return static_cast<uint32_t>(share * static_cast<double>(uint64_t{1} << level));
  }
  double EdgeBefore(uint64_t part, int level) const {
    const double share = static_cast<double>(part) / static_cast<double>(uint64_t{1} << level);
    return min + share * (max - min);
  }
  double MiddleOf(uint64_t part, int level) const {
    const double middle = (EdgeBefore(part, level) + EdgeBefore(part + 1, level)) / 2;
    return std::clamp(middle, min, max);
  }
};

constexpr Axis kLongitudes = {-kMaxLongitude, kMaxLongitude};
constexpr Axis kLatitudes = {-kMaxLatitude, kMaxLatitude};
constexpr Axis kAllLatitudes = {-90, 90};

// Bit i of the number goes to bit 2i. Warren, "Hacker's Delight", 7-2.
uint64_t Spread(uint32_t number) {
  uint64_t bits = number;
  bits = (bits | bits << 16) & 0x0000FFFF0000FFFF;
  bits = (bits | bits << 8) & 0x00FF00FF00FF00FF;
  bits = (bits | bits << 4) & 0x0F0F0F0F0F0F0F0F;
  bits = (bits | bits << 2) & 0x3333333333333333;
  return (bits | bits << 1) & 0x5555555555555555;
}

// Bit 2i of the bits goes to bit i.
uint32_t Gathered(uint64_t bits) {
  bits &= 0x5555555555555555;
  bits = (bits | bits >> 1) & 0x3333333333333333;
  bits = (bits | bits >> 2) & 0x0F0F0F0F0F0F0F0F;
  bits = (bits | bits >> 4) & 0x00FF00FF00FF00FF;
  bits = (bits | bits >> 8) & 0x0000FFFF0000FFFF;
  return static_cast<uint32_t>(bits | bits >> 16);
}

uint64_t NumberOf(const GeoCell& cell) { return Spread(cell.column) << 1 | Spread(cell.row); }

uint32_t Moved(uint32_t part, int by, int level) {
  return by == 0 ? part : (part + static_cast<uint32_t>(by)) & ((uint32_t{1} << level) - 1);
}

}  // namespace

GeoCell GeoCell::Of(const GeoPoint& point, int level) {
  return {kLongitudes.PartOf(point.longitude, level), kLatitudes.PartOf(point.latitude, level),
          level};
}

GeoCell GeoCell::Neighbor(int east, int north) const {
  return {Moved(column, east, level), Moved(row, north, level), level};
}

double GeoCell::west() const { return kLongitudes.EdgeBefore(column, level); }
double GeoCell::east() const { return kLongitudes.EdgeBefore(column + uint64_t{1}, level); }
double GeoCell::south() const { return kLatitudes.EdgeBefore(row, level); }
double GeoCell::north() const { return kLatitudes.EdgeBefore(row + uint64_t{1}, level); }

ScoreRange GeoCell::Scores() const {
  const int finer = 2 * (kFinestLevel - level);
  const uint64_t number = NumberOf(*this);
  return {.min = {static_cast<double>(number << finer)},
          .max = {static_cast<double>((number + 1) << finer), /*exclusive=*/true}};
}

double GeoScoreOf(const GeoPoint& point) {
  return static_cast<double>(NumberOf(GeoCell::Of(point, kFinestLevel)));
}

// On every machine, a negative score is converted to its two's complement, and a score that does
// not fit in 64 bits to 0.
uint64_t GeoHashOf(double score) {
  constexpr double kBeyondSigned = 9223372036854775808.0;  // 2^63
  if (score >= 2 * kBeyondSigned || score < -kBeyondSigned) return 0;
  if (score >= 0) return static_cast<uint64_t>(score);
  return static_cast<uint64_t>(static_cast<int64_t>(score));
}

GeoPoint GeoPointOf(double score) {
  const uint64_t hash = GeoHashOf(score);
  return {kLongitudes.MiddleOf(Gathered(hash >> 1), kFinestLevel),
          kLatitudes.MiddleOf(Gathered(hash), kFinestLevel)};
}

std::string GeohashText(const GeoPoint& point) {
  constexpr std::string_view kLetters = "0123456789bcdefghjkmnpqrstuvwxyz";
  constexpr int kBitsPerLetter = 5, kBits = 2 * kFinestLevel;
  const uint64_t number = NumberOf({kLongitudes.PartOf(point.longitude, kFinestLevel),
                                    kAllLatitudes.PartOf(point.latitude, kFinestLevel)});
  std::string text;
  for (int below = kBits - kBitsPerLetter; below >= 0; below -= kBitsPerLetter) {
    text += kLetters[number >> below & (kLetters.size() - 1)];
  }
  return text + '0';
}

}  // namespace zsetd
