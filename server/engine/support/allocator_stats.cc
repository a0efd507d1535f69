#include "server/engine/support/allocator_stats.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "server/engine/support/process_stats.h"

// jemalloc's, if it is linked; null if not.
extern "C" int mallctl(const char* name, void* old_value, size_t* old_size, void* new_value,
                       size_t new_size) __attribute__((weak));
// A sanitizer's.
extern "C" size_t __sanitizer_get_current_allocated_bytes() __attribute__((weak));
extern "C" void malloc_stats_print(void (*write)(void* context, const char* text), void* context,
                                   const char* options) __attribute__((weak));

namespace zsetd {
namespace {

template <class T>
T Read(const char* name) {
  T value = {};
  size_t size = sizeof(value);
  mallctl(name, &value, &size, nullptr, 0);
  return value;
}

// jemalloc returns statistics of its last refresh.
void Refresh() {
  mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
  uint64_t epoch = 1;
  mallctl("epoch", nullptr, nullptr, &epoch, sizeof(epoch));
}

}  // namespace

std::optional<AllocatorStats> ReadAllocatorStats() {
  if (mallctl == nullptr) return std::nullopt;
  Refresh();
  // Freed memory that threads keep for their next allocations counts as allocated.
  const size_t allocated = Read<size_t>("stats.allocated");
  const size_t kept = Read<size_t>("stats.arenas.4096.tcache_bytes");  // MALLCTL_ARENAS_ALL
  return AllocatorStats{
      .allocated = allocated - std::min(allocated, kept),
      .active = Read<size_t>("stats.active"),
      .resident = Read<size_t>("stats.resident"),
  };
}

size_t UsedBytes() {
  if (const auto stats = ReadAllocatorStats()) return stats->allocated;
  const bool sanitized = __sanitizer_get_current_allocated_bytes != nullptr;
  return sanitized ? __sanitizer_get_current_allocated_bytes() : ResidentBytes();
}

ThreadCounts CountsOfThisThread() {
  if (mallctl == nullptr) return {};
  return {.taken = Read<const uint64_t*>("thread.allocatedp"),
          .freed = Read<const uint64_t*>("thread.deallocatedp")};
}

bool PurgeAllocator() {
  constexpr const char* kAllArenas = "arena.4096.purge";  // MALLCTL_ARENAS_ALL
  return mallctl != nullptr && mallctl(kAllArenas, nullptr, nullptr, nullptr, 0) == 0;
}

void RestartAllocatorThreads() {
  if (mallctl == nullptr) return;
  bool on = true;
  mallctl("background_thread", nullptr, nullptr, &on, sizeof(on));
}

std::string AllocatorReport() {
  std::string report;
  if (malloc_stats_print == nullptr) return report;
  malloc_stats_print([](void* text, const char* part) { *static_cast<std::string*>(text) += part; },
                     &report, nullptr);
  return report;
}

std::string AllocatorName() {
  if (mallctl == nullptr) return "libc";
  const std::string_view version = Read<const char*>("version");  // "5.3.0-0-g54eaed1..."
  return "jemalloc-" + std::string(version.substr(0, version.find('-')));
}

}  // namespace zsetd
