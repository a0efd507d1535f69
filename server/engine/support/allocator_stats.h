#pragma once

#include <cstddef>
#include <cstdint>
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

// The bytes that the allocator has handed out or, where it does not tell, all that the process
// takes.
size_t UsedBytes();

// Where jemalloc counts the bytes that the calling thread has ever taken and freed; null where
// another allocator is at work. Valid until the thread ends.
struct ThreadCounts {
  const uint64_t* taken = nullptr;
  const uint64_t* freed = nullptr;
};
ThreadCounts CountsOfThisThread();

// Gives the pages that hold nothing back to the system. False if the allocator cannot.
bool PurgeAllocator();

// All that the allocator tells of itself, for people to read; empty where it tells nothing.
std::string AllocatorReport();

// "jemalloc-5.3.0", or "libc".
std::string AllocatorName();

}  // namespace zsetd
