#include "core/util/sample.h"

#include <algorithm>
#include <cassert>

#include "absl/container/flat_hash_set.h"

namespace zsetd {

// Robert Floyd's algorithm: Bentley 1987, "Programming pearls: a sample of brilliance". One draw
// for each number; a repeated draw is replaced by the newest number, which cannot be in the sample
// yet.
std::vector<size_t> DistinctNumbers(size_t count, size_t below, Rng& rng) {
  assert(count <= below);
  absl::flat_hash_set<size_t> drawn;
  drawn.reserve(count);
  for (size_t newest = below - count; newest < below; ++newest) {
    if (!drawn.insert(rng.Below(newest + 1)).second) drawn.insert(newest);
  }
  std::vector<size_t> numbers(drawn.begin(), drawn.end());
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace zsetd
