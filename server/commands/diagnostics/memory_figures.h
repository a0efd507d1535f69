#pragma once

#include <cstddef>
#include <optional>

#include "server/engine/engine.h"
#include "server/engine/scripting.h"
#include "server/engine/support/allocator_stats.h"

namespace zsetd {

// How the process uses memory at one moment, in bytes; for INFO and MEMORY.
struct MemoryFigures {
  size_t used = 0;      // allocated
  size_t resident = 0;  // physical
  size_t startup = 0;   // used before there was anything to hold
  size_t peak = 0;      // the most that was ever used
  size_t clients = 0;
  size_t overhead = 0;  // used for other things than data: the empty server, tables, clients
  std::optional<AllocatorStats> allocator;

  size_t data() const { return used - overhead; }
};

// The memory of scripts; zero without scripting.
ScriptUsage UsageOfScripts(const Engine& engine);

// O(clients + databases), and some microseconds for asking the system.
MemoryFigures MeasureMemory(Engine& engine);

// `part` as a share of `whole`, 0 of nothing.
double Ratio(size_t part, size_t whole);

// May be negative.
int64_t Difference(size_t a, size_t b);

}  // namespace zsetd
