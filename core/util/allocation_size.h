#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

namespace zsetd {

// The number of bytes that jemalloc uses for an allocation of `bytes`, computed by its rule:
// multiples of 16 up to 128, then four sizes for each doubling. An estimate for other allocators.
// For memory whose block is not accessible, such as the nodes of a container, or that is counted
// too often for a call of the allocator.
constexpr size_t AllocationSize(size_t bytes) {
  if (bytes == 0) return 0;
  const size_t step = std::max<size_t>(16, std::bit_ceil(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

// The heap bytes of a std::string of `bytes` characters.
constexpr size_t StringAllocationSize(size_t bytes) {
  constexpr size_t kMostInside = 15;
  return bytes <= kMostInside ? 0 : AllocationSize(bytes + 1);
}

}  // namespace zsetd
