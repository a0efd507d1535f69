#include "server/commands/diagnostics/memory_figures.h"

#include <algorithm>

#include "server/engine/client/client_memory.h"
#include "server/engine/support/process_stats.h"

namespace zsetd {
namespace {

size_t ClientBytes(const Engine& engine) {
  size_t bytes = 0;
  for (const auto& [id, client] : engine.clients().all()) bytes += BytesUsedBy(*client);
  return bytes;
}

size_t TableBytes(const Engine& engine) {
  size_t bytes = 0;
  for (int index = 0; index < engine.store().database_count(); ++index) {
    bytes += engine.store().database(index).keys().OverheadBytes();
  }
  return bytes;
}

}  // namespace

ScriptUsage UsageOfScripts(const Engine& engine) { return engine.services().scripting->Usage(); }

MemoryFigures MeasureMemory(Engine& engine) {
  MemoryFigures figures;
  figures.allocator = ReadAllocatorStats();
  figures.resident = ResidentBytes();
  const size_t allocated = figures.allocator ? figures.allocator->allocated : figures.resident;
  figures.used = allocated - std::min(allocated, engine.store().gauge().uncounted_bytes());
  figures.startup = engine.metrics().load().startup_bytes();
  engine.metrics().load().NoteUsed(figures.used);
  figures.peak = engine.metrics().load().peak_bytes();
  figures.clients = ClientBytes(engine);
  const size_t overhead = figures.startup + figures.clients + TableBytes(engine);
  figures.overhead = std::min(overhead, figures.used);
  return figures;
}

double Ratio(size_t part, size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

int64_t Difference(size_t a, size_t b) { return static_cast<int64_t>(a) - static_cast<int64_t>(b); }

}  // namespace zsetd
