#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "core/util/time.h"
#include "server/engine/config/output_limits.h"

namespace zsetd {

// Holds what one client has not been sent against its limit, over time.
class OutputWatch {
 public:
  // A clock that only goes forward: setting the machine's clock must not close clients.
  using Stopwatch = std::function<Micros()>;

  // Whether the client must be closed. Must be called periodically to measure how long the soft
  // limit has been exceeded. Reads the stopwatch only while it is.
  bool Exceeds(const OutputLimit& limit, size_t unsent_bytes, const Stopwatch& stopwatch);

  // Whether the client must be closed regardless of time.
  static bool ExceedsHard(const OutputLimit& limit, size_t unsent_bytes);

 private:
  std::optional<Micros> over_soft_since_;
};

}  // namespace zsetd
