#include "server/commands/diagnostics/info_memory.h"

#include <algorithm>

#include "server/commands/diagnostics/memory_figures.h"
#include "server/engine/services/cluster_control.h"
#include "server/engine/services/log_control.h"
#include "server/engine/services/replica_registry.h"
#include "server/engine/services/services.h"
#include "server/engine/support/allocator_stats.h"
#include "server/engine/support/process_stats.h"

namespace zsetd {
namespace {

std::string Percent(size_t part, size_t whole) {
  return FractionText(100 * Ratio(part, whole), 2) + "%";
}

void WriteUsed(InfoWriter& info, const MemoryFigures& memory) {
  const size_t since_start = std::max(memory.used, memory.startup) - memory.startup;
  info.AddSize("used_memory", memory.used);
  info.AddSize("used_memory_rss", memory.resident);
  info.AddSize("used_memory_peak", memory.peak);
  info.Add("used_memory_peak_perc", Percent(memory.used, memory.peak));
  info.Add("used_memory_overhead", memory.overhead);
  info.Add("used_memory_startup", memory.startup);
  info.Add("used_memory_dataset", memory.data());
  info.Add("used_memory_dataset_perc", Percent(memory.data(), since_start));
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

void WriteScripts(InfoWriter& info, const ScriptUsage& usage) {
  info.AddSize("used_memory_lua", usage.script_vm_bytes);
  info.Add("used_memory_vm_eval", usage.script_vm_bytes);
  info.Add("used_memory_scripts_eval", usage.script_bytes);
  info.Add("number_of_cached_scripts", usage.scripts);
  info.Add("number_of_functions", usage.functions);
  info.Add("number_of_libraries", usage.libraries);
  info.Add("used_memory_vm_functions", usage.function_vm_bytes);
  info.AddSize("used_memory_vm_total", usage.script_vm_bytes + usage.function_vm_bytes);
  info.Add("used_memory_functions", usage.function_bytes);
  info.AddSize("used_memory_scripts", usage.script_bytes + usage.function_bytes);
}

}  // namespace

void WriteMemory(InfoWriter& info, Engine& engine) {
  const MemoryFigures memory = MeasureMemory(engine);
  info.Section("Memory");
  WriteUsed(info, memory);
  if (memory.allocator) WriteAllocator(info, *memory.allocator, memory.resident);
  info.AddSize("total_system_memory", PhysicalBytes());
  WriteScripts(info, UsageOfScripts(engine));
  info.AddSize("maxmemory", static_cast<size_t>(engine.settings().maxmemory));
  info.Add("maxmemory_policy", ChoiceName(engine.settings().maxmemory_policy));
  info.AddFraction("mem_fragmentation_ratio", Ratio(memory.resident, memory.used));
  info.Add("mem_fragmentation_bytes", Difference(memory.resident, memory.used));
  const size_t stream = engine.services().replicas->stream().backlog_memory;
  const size_t for_replicas = engine.store().bytes_for_replicas();
  const size_t for_log = engine.services().append_log->log_status().buffer_bytes;
  info.Add("mem_not_counted_for_evict", for_replicas + for_log);
  info.Add("mem_replication_backlog", stream - std::min(stream, for_replicas));
  info.Add("mem_total_replication_buffers", stream);
  info.Add("mem_clients_slaves", for_replicas);
  info.Add("mem_clients_normal", memory.clients);
  info.Add("mem_cluster_links", engine.services().cluster->BusStatus().connection_bytes);
  info.Add("mem_aof_buffer", for_log);
  info.Add("mem_allocator", AllocatorName());
  info.Add("active_defrag_running", 0);
  info.Add("lazyfree_pending_objects", engine.store().gauge().pending_objects());
  info.Add("lazyfreed_objects", engine.store().gauge().freed_objects());
}

}  // namespace zsetd
