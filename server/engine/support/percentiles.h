#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace zsetd {

// The percentiles of command latencies in INFO latencystats: "50 99 99.9".
struct Percentiles {
  std::vector<double> percents = {50, 99, 99.9};  // each from 0 to 100

  // Nothing changes on a refusal.
  absl::Status Read(std::string_view text);
  std::string Text() const;

  bool operator==(const Percentiles&) const = default;
};

}  // namespace zsetd
