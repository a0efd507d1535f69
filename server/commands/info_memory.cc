#include "server/commands/info_memory.h"

#include <algorithm>
#include <optional>

#include "server/commands/client_list.h"
#include "server/engine/allocator_stats.h"
#include "server/engine/process_stats.h"

namespace zsetd {
namespace {

double Ratio(size_t part, size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string Percent(size_t part, size_t whole) {
  return FractionText(100 * Ratio(part, whole), 2) + "%";
}

int64_t Difference(size_t a, size_t b) { return static_cast<int64_t>(a) - static_cast<int64_t>(b); }

size_t ClientBytes(const Engine& engine) {
  size_t bytes = 0;
  for (const auto& [id, client] : engine.clients()) bytes += BytesUsedBy(*client);
  return bytes;
}

// What is not the data itself: the empty server, the tables of keys, the clients.
size_t OverheadBytes(const Engine& engine) {
  size_t bytes = engine.load().startup_bytes() + ClientBytes(engine);
  for (int index = 0; index < engine.database_count(); ++index) {
    bytes += engine.database(index).keys().OverheadBytes();
  }
  return bytes;
}

void WriteUsed(InfoWriter& info, const Engine& engine, size_t used, size_t resident) {
  const size_t startup = engine.load().startup_bytes();
  const size_t peak = std::max(engine.load().peak_bytes(), used);
  const size_t overhead = std::min(OverheadBytes(engine), used);
  info.AddSize("used_memory", used);
  info.AddSize("used_memory_rss", resident);
  info.AddSize("used_memory_peak", peak);
  info.Add("used_memory_peak_perc", Percent(used, peak));
  info.Add("used_memory_overhead", overhead);
  info.Add("used_memory_startup", startup);
  info.Add("used_memory_dataset", used - overhead);
  info.Add("used_memory_dataset_perc", Percent(used - overhead, std::max(used, startup) - startup));
}

void WriteAllocator(InfoWriter& info, const AllocatorStats& stats, size_t resident) {
  info.Add("allocator_allocated", stats.allocated);
  info.Add("allocator_active", stats.active);
  info.Add("allocator_resident", stats.resident);
  info.AddFraction("allocator_frag_ratio", Ratio(stats.active, stats.allocated));
  info.Add("allocator_frag_bytes", Difference(stats.active, stats.allocated));
  info.AddFraction("allocator_rss_ratio", Ratio(stats.resident, stats.active));
  info.Add("allocator_rss_bytes", Difference(stats.resident, stats.active));
  info.AddFraction("rss_overhead_ratio", Ratio(resident, stats.resident));
  info.Add("rss_overhead_bytes", Difference(resident, stats.resident));
}

}  // namespace

void WriteMemory(InfoWriter& info, Engine& engine) {
  const std::optional<AllocatorStats> stats = ReadAllocatorStats();
  const size_t resident = ResidentBytes();
  const size_t used = stats ? stats->allocated : resident;  // as UsedBytes(), of the same moment
  info.Section("Memory");
  WriteUsed(info, engine, used, resident);
  if (stats) WriteAllocator(info, *stats, resident);
  info.AddSize("total_system_memory", PhysicalBytes());
  info.AddSize("maxmemory", 0);
  info.Add("maxmemory_policy", "noeviction");
  info.AddFraction("mem_fragmentation_ratio", Ratio(resident, used));
  info.Add("mem_fragmentation_bytes", Difference(resident, used));
  info.Add("mem_clients_slaves", 0);
  info.Add("mem_clients_normal", ClientBytes(engine));
  info.Add("mem_aof_buffer", 0);
  info.Add("mem_allocator", AllocatorName());
  info.Add("active_defrag_running", 0);
  info.Add("lazyfree_pending_objects", 0);
}

}  // namespace zsetd
