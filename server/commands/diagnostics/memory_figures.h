#pragma once

#include <cstddef>
#include <optional>

#include "server/engine/engine.h"
#include "server/engine/services/scripting.h"
#include "server/engine/support/allocator_stats.h"

namespace zsetd {

// The memory that the process uses at one moment, in bytes. For INFO and MEMORY.
struct MemoryFigures {
  size_t used = 0;      // allocated
  size_t resident = 0;  // physical memory
  size_t startup = 0;   // used before any data was loaded
  size_t peak = 0;      // the maximum of `used`
  size_t clients = 0;
  size_t overhead = 0;  // not for data: the empty server, tables, clients
  std::optional<AllocatorStats> allocator;

  size_t data() const { return used - overhead; }
};

// The memory of scripts; zero without scripting.
ScriptUsage UsageOfScripts(const Engine& engine);

// O(clients + databases), plus some microseconds for system calls.
MemoryFigures MeasureMemory(Engine& engine);

// Returns `part` / `whole`; 0 if `whole` is 0.
double Ratio(size_t part, size_t whole);

// Returns a - b, which may be negative.
int64_t Difference(size_t a, size_t b);

}  // namespace zsetd
