#include "server/commands/diagnostics/memory_report.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "core/util/time.h"
#include "server/commands/diagnostics/memory_figures.h"
#include "server/engine/services/log_control.h"
#include "server/engine/services/replica_registry.h"
#include "server/engine/services/services.h"
#include "server/engine/support/size_text.h"

namespace zsetd {
namespace {

// Writes a map in two passes. The first pass counts the fields, because a map begins with its size.
class MapWriter {
 public:
  explicit MapWriter(ReplyWriter* reply) : reply_(reply) {}

  void Add(std::string_view name, int64_t value) {
    if (Name(name)) reply_->Integer(value);
  }
  void Add(std::string_view name, double value) {
    if (Name(name)) reply_->Double(value);
  }

  // Writes the name. Returns whether the caller must write the value.
  bool Name(std::string_view name) {
    ++size_;
    if (reply_ != nullptr) reply_->Bulk(name);
    return reply_ != nullptr;
  }

  ReplyWriter& reply() const { return *reply_; }
  size_t size() const { return size_; }

 private:
  ReplyWriter* reply_;  // null in the pass that only counts
  size_t size_ = 0;
};

int64_t Bytes(size_t bytes) { return static_cast<int64_t>(bytes); }

void AddDatabases(MapWriter& fields, const Engine& engine) {
  for (int index = 0; index < engine.store().database_count(); ++index) {
    const Keyspace& keys = engine.store().database(index).keys();
    if (keys.size() == 0 || !fields.Name("db." + std::to_string(index))) continue;
    fields.reply().Map(2);
    fields.reply().Bulk("overhead.hashtable.main");
    fields.reply().Integer(Bytes(keys.TableBytes()));
    fields.reply().Bulk("overhead.hashtable.expires");
    fields.reply().Integer(Bytes(keys.OverheadBytes() - keys.TableBytes()));
  }
}

void AddAllocator(MapWriter& fields, const AllocatorStats& stats, size_t resident) {
  fields.Add("allocator.allocated", Bytes(stats.allocated));
  fields.Add("allocator.active", Bytes(stats.active));
  fields.Add("allocator.resident", Bytes(stats.resident));
  fields.Add("allocator-fragmentation.ratio", Ratio(stats.active, stats.allocated));
  fields.Add("allocator-fragmentation.bytes", Difference(stats.active, stats.allocated));
  fields.Add("allocator-rss.ratio", Ratio(stats.resident, stats.active));
  fields.Add("allocator-rss.bytes", Difference(stats.resident, stats.active));
  fields.Add("rss-overhead.ratio", Ratio(resident, stats.resident));
  fields.Add("rss-overhead.bytes", Difference(resident, stats.resident));
}

size_t KeyCount(const Engine& engine) {
  size_t count = 0;
  for (int index = 0; index < engine.store().database_count(); ++index) {
    count += engine.store().database(index).keys().size();
  }
  return count;
}

void AddAll(MapWriter& fields, const Engine& engine, const MemoryFigures& memory) {
  const size_t since_start = memory.used > memory.startup ? memory.used - memory.startup : 0;
  const size_t keys = KeyCount(engine);
  fields.Add("peak.allocated", Bytes(memory.peak));
  fields.Add("total.allocated", Bytes(memory.used));
  fields.Add("startup.allocated", Bytes(memory.startup));
  const size_t stream = engine.services().replicas->stream().backlog_memory;
  const size_t for_replicas = engine.store().bytes_for_replicas();
  fields.Add("replication.backlog", Bytes(stream - std::min(stream, for_replicas)));
  fields.Add("clients.slaves", Bytes(for_replicas));
  fields.Add("clients.normal", Bytes(memory.clients));
  fields.Add("cluster.links", Bytes(engine.services().cluster->BusStatus().connection_bytes));
  fields.Add("aof.buffer", Bytes(engine.services().append_log->log_status().buffer_bytes));
  const ScriptUsage scripts = UsageOfScripts(engine);
  fields.Add("lua.caches", Bytes(scripts.script_bytes));
  fields.Add("functions.caches", Bytes(scripts.function_bytes));
  AddDatabases(fields, engine);
  fields.Add("overhead.total", Bytes(memory.overhead));
  fields.Add("keys.count", Bytes(keys));
  fields.Add("keys.bytes-per-key", Bytes(keys == 0 ? 0 : since_start / keys));
  fields.Add("dataset.bytes", Bytes(memory.data()));
  fields.Add("dataset.percentage", 100 * Ratio(memory.data(), since_start));
  fields.Add("peak.percentage", 100 * Ratio(memory.used, memory.peak));
  if (memory.allocator) AddAllocator(fields, *memory.allocator, memory.resident);
  fields.Add("fragmentation", Ratio(memory.resident, memory.used));
  fields.Add("fragmentation.bytes", Difference(memory.resident, memory.used));
}

// One finding per line. The thresholds are those of Redis.
std::string Findings(const Engine& engine, const MemoryFigures& memory) {
  constexpr double kMostFragmentation = 1.4;
  constexpr size_t kMostClientBytes = 200u << 10;
  std::string findings;
  if (Ratio(memory.peak, memory.used) > 1.5) {
    findings += " * Peak: memory use peaked at " + SizeText(memory.peak) + " and is now " +
                SizeText(memory.used) + ". The process may still hold the freed memory.\n";
  }
  if (Ratio(memory.resident, memory.used) > kMostFragmentation) {
    findings += " * Fragmentation: " + SizeText(memory.used) + " of data occupy " +
                SizeText(memory.resident) + " of physical memory. Try MEMORY PURGE.\n";
  }
  const size_t clients = engine.clients().all().size();
  if (clients > 0 && memory.clients / clients > kMostClientBytes) {
    findings += " * Clients: buffers use " + SizeText(memory.clients / clients) +
                " per client on average. Some may not read their replies: see CLIENT LIST.\n";
  }
  return findings;
}

}  // namespace

void MemoryStats(AdminCall& call) {
  const MemoryFigures memory = MeasureMemory(call.engine);
  MapWriter counter(nullptr);
  AddAll(counter, call.engine, memory);
  call.reply.Map(counter.size());
  MapWriter writer(&call.reply);
  AddAll(writer, call.engine, memory);
}

void MemoryDoctor(AdminCall& call) {
  constexpr size_t kTooLittleToTell = 5u << 20;  // as in Redis
  const MemoryFigures memory = MeasureMemory(call.engine);
  const std::string findings = Findings(call.engine, memory);
  if (memory.used < kTooLittleToTell) {
    return call.reply.Verbatim("txt", "There is too little data in memory for an analysis.\n");
  }
  call.reply.Verbatim(
      "txt", findings.empty() ? "No memory problem was found.\n" : "Memory problems:\n" + findings);
}

}  // namespace zsetd
