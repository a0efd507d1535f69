#pragma once

namespace zsetd {

// Returns how many steps a random test makes: `count`, or a fifth of it under a sanitizer, which
// makes each step about ten times slower. Where every run of a test has another seed, many runs
// make up for it.
constexpr int Steps(int count) {
#ifdef ZSETD_SANITIZED
  return count < 5 ? 1 : count / 5;
#else
  return count;
#endif
}

}  // namespace zsetd
