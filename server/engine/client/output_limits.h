#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "core/util/time.h"
#include "server/engine/config/settings.h"

namespace zsetd {

// "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60": for each class the hard
// and the soft limit in bytes, and for how many seconds the soft one may be passed.
std::string OutputLimitsText(const OutputLimits& limits);

// Reads the same, for one class or more; the limits of a class not named stay. Nothing changes on a
// refusal.
absl::Status ReadOutputLimits(std::string_view text, OutputLimits& limits);

// Holds what one client has not been sent against its limit, over time.
class OutputWatch {
 public:
  // Whether the client is to be closed. To be asked now and then, so that it is known since when
  // the soft limit has been passed.
  bool Exceeds(const OutputLimit& limit, size_t unsent_bytes, Millis now);

 private:
  std::optional<Millis> over_soft_since_;
};

}  // namespace zsetd
