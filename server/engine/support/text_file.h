#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace zsetd {

// More than any configuration or list of users has. A device may have no end.
inline constexpr size_t kMostTextFileBytes = size_t{64} << 20;

// Returns the contents of a file. A refusal has the reason only, as strerror() words it if the
// system gave it.
absl::StatusOr<std::string> ReadTextFile(const std::string& path);

}  // namespace zsetd
