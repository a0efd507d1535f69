#include "core/hyperloglog/cardinality.h"

#include <cmath>
#include <limits>

namespace zsetd {
namespace {

constexpr int kMostRank = kMostHllValue - 1;                // q in the paper
constexpr double kAlphaInfinity = 0.721347520444481703680;  // 1 / (2 ln 2)

// Equation (29) of the paper, for the registers without an element: x + sum of x^(2^k) 2^(k-1).
double Sigma(double x) {
  if (x == 1.0) return std::numeric_limits<double>::infinity();
  double weight = 1.0;
  double sum = x;
  double before = 0;
  do {
    x *= x;
    before = sum;
    sum += x * weight;
    weight += weight;
  } while (sum != before);
  return sum;
}

// Equation (30) of the paper, for the registers with the greatest value.
double Tau(double x) {
  if (x == 0.0 || x == 1.0) return 0.0;
  double weight = 1.0;
  double sum = 1 - x;
  double before = 0;
  do {
    x = std::sqrt(x);
    before = sum;
    weight *= 0.5;
    sum -= (1 - x) * (1 - x) * weight;
  } while (sum != before);
  return sum / 3;
}

}  // namespace

uint64_t EstimateCardinality(const HllHistogram& histogram) {
  constexpr double kCount = kHllRegisters;
  double sum = kCount * Tau((kCount - histogram[kMostHllValue]) / kCount);
  for (int value = kMostRank; value >= 1; --value) {
    sum += histogram[value];
    sum *= 0.5;
  }
  sum += kCount * Sigma(histogram[0] / kCount);
  const double estimate = kAlphaInfinity * kCount * kCount / sum;
  constexpr double kTooLarge = 9223372036854775808.0;  // 2^63
  if (estimate >= kTooLarge) return uint64_t{1} << 63;
  return static_cast<uint64_t>(std::llround(estimate));
}

}  // namespace zsetd
