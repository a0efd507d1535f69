#pragma once

#include <cstddef>

namespace zsetd {

// Asserts the invariants of a structure after change number `step`. Does nothing in release builds,
// which have no asserts. Check() visits every element, so a large structure is checked after some
// changes only.
template <class Structure>
void CheckAfterChange([[maybe_unused]] const Structure& structure, [[maybe_unused]] int step) {
#ifndef NDEBUG
  constexpr size_t kLarge = 256;
  constexpr int kInterval = 64;
  if (structure.size() < kLarge || step % kInterval == 0) structure.Check();
#endif
}

}  // namespace zsetd
