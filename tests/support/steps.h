#pragma once

#include <algorithm>
#include <cstdlib>

namespace zsetd {

// Returns how many steps a random test makes: a fifth of `count`, a tenth under a sanitizer, or all
// with the environment variable LONG_MODELS (./check --models). At least one.
inline int Steps(int count) {
  if (std::getenv("LONG_MODELS") != nullptr) return count;
  return std::max(1, count / ZSETD_STEPS_SHARE);
}

}  // namespace zsetd
