#pragma once

#include <cstdlib>

namespace zsetd {

// Returns how many steps a random test makes: a fifth of `count`, or all with the environment
// variable LONG_MODELS (./check --models).
inline int Steps(int count) {
  if (std::getenv("LONG_MODELS") != nullptr) return count;
  return count < 5 ? 1 : count / 5;
}

}  // namespace zsetd
