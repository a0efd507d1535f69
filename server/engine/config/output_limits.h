#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace zsetd {

// When a client that does not read is closed: as soon as more than `hard_bytes` wait for it, or
// once more than `soft_bytes` have waited for more than `soft_seconds` on end. 0 bytes: no such
// limit.
struct OutputLimit {
  int64_t hard_bytes = 0;
  int64_t soft_bytes = 0;
  int64_t soft_seconds = 0;

  bool operator==(const OutputLimit&) const = default;
};

// The limits of each class of clients. No request is run while much is unsent, so that replies come
// near these only if one is that large by itself.
struct OutputLimits {
  OutputLimit normal = {1 << 30, 256 << 20, 60};
  OutputLimit replica = {256 << 20, 64 << 20, 60};  // counted beyond the backlog
  OutputLimit pubsub = {32 << 20, 8 << 20, 60};     // subscribers

  bool operator==(const OutputLimits&) const = default;
};

// "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60": for each class the hard
// and the soft limit in bytes, and for how many seconds the soft one may be passed.
std::string OutputLimitsText(const OutputLimits& limits);

// Reads such a text for one class or more; the limits of other classes stay. Single spaces separate
// the words, as in Redis. Nothing changes on a refusal.
absl::Status ReadOutputLimits(std::string_view text, OutputLimits& limits);

}  // namespace zsetd
