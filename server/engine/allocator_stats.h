#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace zsetd {

// What jemalloc tells of the whole process, in bytes.
struct AllocatorStats {
  size_t allocated = 0;  // handed out, rounding included
  size_t active = 0;     // pages with something handed out in them
  size_t resident = 0;   // physical pages, its own books included
};

// Nothing where another allocator is at work, as under a sanitizer. About 10 microseconds.
std::optional<AllocatorStats> ReadAllocatorStats();

// Gives the pages that hold nothing back to the system. False if the allocator cannot.
bool PurgeAllocator();

// All that the allocator tells of itself, for people to read; empty where it tells nothing.
std::string AllocatorReport();

// "jemalloc-5.3.0", or "libc".
std::string AllocatorName();

}  // namespace zsetd
