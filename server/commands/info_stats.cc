#include "server/commands/info_stats.h"

namespace zsetd {
namespace {

double Kilobytes(uint64_t bytes) { return static_cast<double>(bytes) / 1024; }

std::string Text(const CommandStats& stats) {
  const double each =
      stats.calls == 0 ? 0 : static_cast<double>(stats.micros) / static_cast<double>(stats.calls);
  return "calls=" + std::to_string(stats.calls) + ",usec=" + std::to_string(stats.micros) +
         ",usec_per_call=" + FractionText(each, 2) +
         ",rejected_calls=" + std::to_string(stats.rejected) +
         ",failed_calls=" + std::to_string(stats.failed);
}

}  // namespace

void WriteStats(InfoWriter& info, Engine& engine) {
  const Stats& stats = engine.stats();
  const LoadMeter& load = engine.load();
  info.Section("Stats");
  info.Add("total_connections_received", stats.connections_received);
  info.Add("total_commands_processed", stats.commands_processed);
  info.Add("instantaneous_ops_per_sec", load.commands_per_second());
  info.Add("total_net_input_bytes", stats.net_input_bytes);
  info.Add("total_net_output_bytes", stats.net_output_bytes);
  info.AddFraction("instantaneous_input_kbps", Kilobytes(load.input_bytes_per_second()));
  info.AddFraction("instantaneous_output_kbps", Kilobytes(load.output_bytes_per_second()));
  info.Add("rejected_connections", stats.connections_rejected);
  info.Add("sync_full", 0);
  info.Add("sync_partial_ok", 0);
  info.Add("sync_partial_err", 0);
  info.Add("expired_keys", stats.expired_keys);
  info.Add("evicted_keys", 0);
  info.Add("evicted_clients", 0);
  info.Add("keyspace_hits", stats.keyspace_hits);
  info.Add("keyspace_misses", stats.keyspace_misses);
  info.Add("pubsub_channels", engine.channels().count(ChannelKind::kChannel));
  info.Add("pubsub_patterns", engine.channels().count(ChannelKind::kPattern));
  info.Add("pubsubshard_channels", engine.channels().count(ChannelKind::kShardChannel));
  info.Add("latest_fork_usec", 0);
  info.Add("total_forks", 0);
  info.Add("tracking_total_keys", engine.tracking().table().key_count());
  info.Add("tracking_total_items", engine.tracking().table().reader_count());
  info.Add("tracking_total_prefixes", engine.tracking().prefix_count());
  info.Add("total_error_replies", stats.error_replies);
}

void WriteCommandStats(InfoWriter& info, Engine& engine) {
  info.Section("Commandstats");
  for (const Command& row : engine.commands().rows()) {
    const CommandStats& stats = engine.commands().stats(row);
    const bool told = stats.calls + stats.rejected + stats.failed > 0;
    if (told) info.Add("cmdstat_" + std::string(row.name), Text(stats));
  }
}

void WriteErrorStats(InfoWriter& info, Engine& engine) {
  info.Section("Errorstats");
  for (const auto& [code, count] : engine.stats().errors) {
    info.Add("errorstat_" + code, "count=" + std::to_string(count));
  }
}

}  // namespace zsetd
