#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

namespace zsetd {

// The bytes that jemalloc sets aside for an allocation of `bytes`, by its rule alone: multiples of
// 16 up to 128, then four sizes for each doubling. With another allocator an estimate. For what has
// to be counted where the block itself cannot be asked, as the nodes of a container, or too often
// to ask.
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
