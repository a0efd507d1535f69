#pragma once

#include <cstddef>
#include <optional>

#include "core/util/time.h"
#include "server/engine/config/output_limits.h"

namespace zsetd {

// Holds what one client has not been sent against its limit, over time.
class OutputWatch {
 public:
  // Whether the client must be closed. Must be called periodically to measure how long the soft
  // limit has been exceeded.
  bool Exceeds(const OutputLimit& limit, size_t unsent_bytes, Millis now);

 private:
  std::optional<Millis> over_soft_since_;
};

}  // namespace zsetd
