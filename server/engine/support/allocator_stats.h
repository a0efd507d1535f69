#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace zsetd {

// Statistics of jemalloc for the whole process, in bytes.
struct AllocatorStats {
  size_t allocated = 0;  // allocated, rounding included
  size_t active = 0;     // pages with allocations in them
  size_t resident = 0;   // physical pages, its own books included
};

// Nothing where another allocator is at work, as under a sanitizer. About 10 microseconds.
std::optional<AllocatorStats> ReadAllocatorStats();

// The bytes that the allocator has allocated or, if it has no statistics, all that the process
// takes.
size_t UsedBytes();

// Where jemalloc counts the bytes that the calling thread has ever taken and freed; null where
// another allocator is at work. Valid until the thread ends.
struct ThreadCounts {
  const uint64_t* taken = nullptr;
  const uint64_t* freed = nullptr;
};
ThreadCounts CountsOfThisThread();

// Returns unused pages to the system. False if the allocator cannot.
bool PurgeAllocator();

// Restarts the allocator's own threads, which a fork does not copy: without them a child returns
// freed memory only while it allocates.
void RestartAllocatorThreads();

// The allocator's statistics as human-readable text; empty if it has none.
std::string AllocatorReport();

// "jemalloc-5.3.0", or "libc".
std::string AllocatorName();

}  // namespace zsetd
