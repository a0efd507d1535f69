#include "server/commands/diagnostics/info_stats.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "protocol/text/number_text.h"
#include "server/commands/diagnostics/memory_figures.h"
#include "server/engine/services/master_control.h"
#include "server/engine/services/migration.h"
#include "server/engine/services/replica_registry.h"
#include "server/engine/services/services.h"

namespace zsetd {
namespace {

double Kilobytes(uint64_t bytes) { return static_cast<double>(bytes) / 1024; }

std::string StatsText(const CommandStats& stats) {
  const double each =
      stats.calls == 0 ? 0 : static_cast<double>(stats.micros) / static_cast<double>(stats.calls);
  return "calls=" + std::to_string(stats.calls) + ",usec=" + std::to_string(stats.micros) +
         ",usec_per_call=" + FractionText(each, 2) +
         ",rejected_calls=" + std::to_string(stats.rejected) +
         ",failed_calls=" + std::to_string(stats.failed);
}

// Counters of defragmentation and I/O threads, which zsetd does not have.
constexpr std::string_view kNeverCounted[] = {
    "latest_fork_usec",
    "total_forks",
    "slave_expires_tracked_keys",
    "active_defrag_hits",
    "active_defrag_misses",
    "active_defrag_key_hits",
    "active_defrag_key_misses",
    "total_active_defrag_time",
    "current_active_defrag_time",
    "unexpected_error_replies",
    "dump_payload_sanitizations",
    "io_threaded_reads_processed",
    "io_threaded_writes_processed",
    "io_threaded_total_prefetch_batches",
    "io_threaded_total_prefetch_entries",
    "reply_buffer_shrinks",
    "reply_buffer_expands",
};

void WriteTraffic(InfoWriter& info, const Stats& stats, const LoadMeter& load,
                  const StreamStatus& stream, uint64_t bytes_of_master) {
  info.Add("total_connections_received", stats.connections_received);
  info.Add("total_commands_processed", stats.commands_processed);
  info.Add("instantaneous_ops_per_sec", load.commands_per_second());
  info.Add("total_net_input_bytes", stats.network.input_bytes);
  info.Add("total_net_output_bytes", stats.network.output_bytes);
  info.Add("total_net_repl_input_bytes", bytes_of_master);
  info.Add("total_net_repl_output_bytes", 0);
  info.AddFraction("instantaneous_input_kbps", Kilobytes(load.input_bytes_per_second()));
  info.AddFraction("instantaneous_output_kbps", Kilobytes(load.output_bytes_per_second()));
  info.AddFraction("instantaneous_input_repl_kbps", 0);
  info.AddFraction("instantaneous_output_repl_kbps", 0);
  info.Add("rejected_connections", stats.connections_rejected);
  info.Add("total_reads_processed", stats.network.reads);
  info.Add("total_writes_processed", stats.network.writes);
  info.Add("client_query_buffer_limit_disconnections", stats.flooding_disconnections);
  info.Add("client_output_buffer_limit_disconnections", stats.stalled_disconnections);
  info.Add("sync_full", stream.full_syncs);
  info.Add("sync_partial_ok", stream.partial_syncs);
  info.Add("sync_partial_err", stream.refused_partial_syncs);
}

// Returns the time since the earliest deadline of a key that is not deleted yet; 0 if no key is
// due.
Micros ExpiryLag(const Engine& engine) {
  const std::optional<Millis> deadline = engine.store().NextDeadline();
  if (!deadline) return Micros(0);
  return std::max(Micros(0), engine.host().wall_clock() - Micros(*deadline));
}

void WriteKeyStats(InfoWriter& info, const Engine& engine, const Stats& stats) {
  info.Add("expired_subkeys", stats.expired_elements);
  info.Add("expired_keys", stats.expired_keys);
  info.AddFraction("expired_stale_perc", 0);  // due keys are found by an index, not by samples
  info.Add("expired_time_cap_reached_count", stats.expiries_cut_short);
  info.Add("expire_cycle_cpu_milliseconds", stats.expiry_time.count() / 1000);
  info.Add("expiry_lag_usec", ExpiryLag(engine).count());
  info.Add("evicted_keys", stats.evicted_keys);
  info.Add("evicted_clients", stats.evicted_clients);
  info.Add("evicted_scripts", UsageOfScripts(engine).evicted_scripts);
  const Micros short_now = engine.store().ExceedsLimitFor();
  info.Add("total_eviction_exceeded_time", (stats.memory_short_time + short_now).count() / 1000);
  info.Add("current_eviction_exceeded_time", short_now.count() / 1000);
  info.Add("keyspace_hits", stats.keyspace_hits);
  info.Add("keyspace_misses", stats.keyspace_misses);
}

void WriteDenials(InfoWriter& info, const Stats& stats) {
  info.Add("acl_access_denied_auth", stats.denied_logins);
  info.Add("acl_access_denied_cmd", stats.denied_commands);
  info.Add("acl_access_denied_key", stats.denied_keys);
  info.Add("acl_access_denied_channel", stats.denied_channels);
}

void WriteListenerStats(InfoWriter& info, Engine& engine) {
  const Tracking& tracking = engine.notifier().tracking();
  info.Add("pubsub_channels", engine.notifier().channels().count(ChannelKind::kChannel));
  info.Add("pubsub_patterns", engine.notifier().channels().count(ChannelKind::kPattern));
  info.Add("pubsubshard_channels", engine.notifier().channels().count(ChannelKind::kShardChannel));
  info.Add("tracking_total_keys", tracking.table().key_count());
  info.Add("tracking_total_items", tracking.table().reader_count());
  info.Add("tracking_total_prefixes", tracking.prefix_count());
}

void WriteRounds(InfoWriter& info, const Stats& stats, const LoadMeter& load) {
  info.Add("eventloop_cycles", stats.rounds);
  info.Add("eventloop_duration_sum", stats.round_time.count());
  info.Add("eventloop_duration_cmd_sum", stats.command_time.count());
  info.Add("instantaneous_eventloop_cycles_per_sec", load.rounds_per_second());
  info.Add("instantaneous_eventloop_duration_usec", load.time_per_round().count());
}

}  // namespace

void WriteStats(InfoWriter& info, Engine& engine) {
  const Stats& stats = engine.metrics().stats();
  const Services& services = engine.services();
  info.Section("Stats");
  WriteTraffic(info, stats, engine.metrics().load(), services.replicas->stream(),
               services.master->master_link().received_bytes);
  WriteKeyStats(info, engine, stats);
  WriteListenerStats(info, engine);
  info.Add("total_error_replies", stats.error_replies);
  info.Add("migrate_cached_sockets", services.migration->cached_connections());
  for (const std::string_view name : kNeverCounted) info.Add(name, 0);
  WriteRounds(info, stats, engine.metrics().load());
  WriteDenials(info, stats);
}

void WriteCommandStats(InfoWriter& info, Engine& engine) {
  info.Section("Commandstats");
  for (const Command& row : engine.commands().rows()) {
    const CommandStats& stats = engine.metrics().of(row);
    const bool told = stats.calls + stats.rejected + stats.failed > 0;
    if (told) info.Add("cmdstat_" + std::string(row.name), StatsText(stats));
  }
}

void WriteErrorStats(InfoWriter& info, Engine& engine) {
  info.Section("Errorstats");
  for (const auto& [code, count] : engine.metrics().stats().errors.by_code()) {
    info.Add("errorstat_" + code, "count=" + std::to_string(count));
  }
}

void WriteLatencyStats(InfoWriter& info, Engine& engine) {
  info.Section("Latencystats");
  for (const Command& row : engine.commands().rows()) {
    const LatencyHistogram& latency = engine.metrics().of(row).latency;
    if (latency.count() == 0) continue;
    std::string text;
    for (const double percent : engine.settings().latency_tracking_info_percentiles.percents) {
      const auto micros = static_cast<double>(latency.Percentile(percent).count());
      text += (text.empty() ? "p" : ",p") + DoubleText(percent) + "=" + FractionText(micros, 3);
    }
    info.Add("latency_percentiles_usec_" + std::string(row.name), text);
  }
}

}  // namespace zsetd
