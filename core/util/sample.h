#pragma once

#include <cstddef>
#include <vector>

#include "core/util/rng.h"

namespace zsetd {

// `count` different numbers of 0 .. below-1 in order, each such choice equally likely; `count` is
// at most `below`. O(count log count).
std::vector<size_t> DistinctNumbers(size_t count, size_t below, Rng& rng);

}  // namespace zsetd
