#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace zsetd::bench {

// Returns the nth random number, without a state: the mixing function of SplitMix64 (Steele, Lea
// and Flood 2014, "Fast Splittable Pseudorandom Number Generators").
inline uint64_t Mix(uint64_t n) {
  n += 0x9E3779B97F4A7C15;
  n = (n ^ (n >> 30)) * 0xBF58476D1CE4E5B9;
  n = (n ^ (n >> 27)) * 0x94D049BB133111EB;
  return n ^ (n >> 31);
}

enum class Members { kRandomBytes, kPadded, kPaddedDescending, kShortest, kNineDigits };
enum class Scores { kRandom, kTimestamps, kDescending, kNegativeTimestamps, kEqual };

// Computes the elements of a benchmark from their numbers. It stores no elements, so it uses no
// cache.
class Workload {
 public:
  Workload(Members members, Scores scores) : members_(members), scores_(scores) {}

  // Returns the member's bytes, valid until the next call.
  std::string_view Member(uint64_t n) {
    switch (members_) {
      case Members::kRandomBytes:
        for (size_t i = 0; i < 3; ++i) {
          const uint64_t word = Mix(n * 4 + i);
          std::memcpy(text_.data() + 8 * i, &word, 8);
        }
        return {text_.data(), 20};
      case Members::kPadded:
        return Printed("member:%013llu", n);
      case Members::kPaddedDescending:
        return Printed("member:%013llu", 9'999'999'999'999 - n);
      case Members::kShortest:
        return Printed("%llu", n);
      case Members::kNineDigits:
        return Printed("%llu", 100'000'000 + Mix(n) % 900'000'000);
    }
    return {};
  }

  double Score(uint64_t n) const {
    switch (scores_) {
      case Scores::kRandom:
        return double(Mix(~n) >> 11) * 0x1p-53;
      case Scores::kTimestamps:
        return double(kEpoch + n);
      case Scores::kDescending:
        return double(kEpoch - n);
      case Scores::kNegativeTimestamps:
        return -double(kEpoch + n);
      case Scores::kEqual:
        return 0;
    }
    return 0;
  }

 private:
  static constexpr uint64_t kEpoch = 1'790'000'000;

  std::string_view Printed(const char* format, unsigned long long number) {
    return {text_.data(), size_t(std::snprintf(text_.data(), text_.size(), format, number))};
  }

  Members members_;
  Scores scores_;
  std::array<char, 32> text_;
};

}  // namespace zsetd::bench
