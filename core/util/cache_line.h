#pragma once

#include <cstddef>

namespace zsetd {

// The unit in which common processors fetch memory.
constexpr size_t kCacheLine = 64;

// Starts to fetch the cache line of the byte. The address may be invalid. The empty statement is
// for g++ 12, which considers a function that only prefetches to have no effect, and removes its
// calls.
inline void PrefetchLine(const void* at) {
  __builtin_prefetch(at);
  asm volatile("");
}

// Starts to fetch several consecutive cache lines.
inline void FetchLines(const void* first, size_t lines) {
  for (size_t line = 0; line < lines; ++line) {
    PrefetchLine(static_cast<const char*>(first) + kCacheLine * line);
  }
}

}  // namespace zsetd
