#pragma once

#include <optional>
#include <string>

namespace zsetd {

// Tests the encodings and the estimator with 20,000 elements, for PFSELFTEST. Returns the failure,
// or nullopt. Takes a few milliseconds.
std::optional<std::string> TestHyperLogLog();

}  // namespace zsetd
