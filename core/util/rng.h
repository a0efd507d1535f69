#pragma once

#include <cassert>
#include <cstdint>
#include <random>

namespace zsetd {

// The only source of random numbers, seeded by its constructor, so that a test can repeat a run.
class Rng {
 public:
  explicit Rng(uint64_t seed) : engine_(seed) {}

  uint64_t Next() { return engine_(); }

  // Uniform over 0 .. bound-1; `bound` is not 0.
  uint64_t Below(uint64_t bound) {
    assert(bound > 0);
    return std::uniform_int_distribution<uint64_t>(0, bound - 1)(engine_);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace zsetd
