#pragma once

#include <cstdint>
#include <iterator>
#include <limits>
#include <string>

#include "core/sorted_set/sorted_set.h"
#include "core/util/rng.h"

namespace zsetd {

// Few different members and scores, so that they coincide often: ties, prefixes of one another,
// binary and empty members, numerals, infinities.
class World {
 public:
  explicit World(uint64_t seed) : rng_(seed) {}

  Rng& rng() { return rng_; }

  std::string Member() {
    const uint64_t n = rng_.Below(400);
    switch (rng_.Below(5)) {
      case 0:
        return std::to_string(n);
      case 1:
        return "member:000" + std::to_string(n);
      case 2:
        return std::string(n % 40, '\0') + char(n);
      case 3:
        return std::string(n % 4 * 150, 'p') + std::to_string(n % 50);
      default:
        return n % 50 == 0 ? "" : std::string(1, char(n)) + std::string(n % 3, '\xFF');
    }
  }

  double Score() {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    static constexpr double kScores[] = {0, -0.0, kInfinity, -kInfinity, 1e300, 5e-324, 0.1};
    if (rng_.Below(4) == 0) return kScores[rng_.Below(std::size(kScores))];
    return double(rng_.Below(40)) - 20;
  }

  AddRule Rule() {
    if (rng_.Below(2) == 0) return {};
    const uint64_t bits = rng_.Next();
    return {.only_new = bits % 8 == 1,
            .only_existing = bits % 8 == 2,
            .only_greater = bits % 8 >= 3 && bits % 8 <= 4,
            .only_less = bits % 8 == 5,
            .increment = (bits & 256) != 0};
  }

  RankRange Ranks(size_t size) {
    const size_t first = rng_.Below(size + 3);
    return {first, first + rng_.Below(20)};
  }

  ScoreRange Scores() { return {{Score(), rng_.Below(2) == 0}, {Score(), rng_.Below(2) == 0}}; }

 private:
  Rng rng_;
};

}  // namespace zsetd
