#include "bench/sorted_set/memory_meter.h"

#include <jemalloc/jemalloc.h>

#include <cstddef>
#include <cstdint>

namespace zsetd::bench {
namespace {

int64_t Read(const char* name) {
  size_t value = 0;
  size_t size = sizeof(value);
  mallctl(name, &value, &size, nullptr, 0);
  return static_cast<int64_t>(value);
}

}  // namespace

MemoryUse MeasureMemory() {
  mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
  mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0);  // 4096: all arenas
  uint64_t epoch = 1;
  mallctl("epoch", nullptr, nullptr, &epoch, sizeof(epoch));
  return {Read("stats.allocated"), Read("stats.resident")};
}

}  // namespace zsetd::bench
