#include "server/commands/diagnostics/info_persistence.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include "core/hash/hash.h"
#include "server/engine/services/log_control.h"
#include "server/engine/services/services.h"
#include "server/engine/services/snapshot_control.h"

namespace zsetd {
namespace {

using Field = std::pair<std::string_view, std::string_view>;

constexpr Field kBeforeKeys[] = {
    {"current_cow_peak", "0"},
    {"current_cow_size", "0"},
    {"current_cow_size_age", "0"},
};

constexpr Field kAfterLog[] = {
    {"module_fork_in_progress", "0"},
    {"module_fork_last_cow_size", "0"},
};

int64_t WholeSeconds(Millis time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

int64_t SecondsOrNone(std::optional<Millis> time) { return time ? WholeSeconds(*time) : -1; }

void Add(std::span<const Field> fields, InfoWriter& info) {
  for (const auto& [name, value] : fields) info.Add(name, value);
}

// As in Redis, the fields of the log's size exist only if the log is on.
void AddLog(const LogStatus& log, InfoWriter& info) {
  info.Add("aof_enabled", log.enabled ? 1 : 0);
  info.Add("aof_rewrite_in_progress", log.rewriting ? 1 : 0);
  info.Add("aof_rewrite_scheduled", log.rewrite_scheduled ? 1 : 0);
  info.Add("aof_last_rewrite_time_sec", SecondsOrNone(log.last_rewrite_took));
  info.Add("aof_current_rewrite_time_sec", SecondsOrNone(log.rewriting_for));
  info.Add("aof_last_bgrewrite_status", log.last_rewrite_ok ? "ok" : "err");
  info.Add("aof_rewrites", log.rewrites);
  info.Add("aof_rewrites_consecutive_failures", log.failures);
  info.Add("aof_last_write_status", log.last_write_ok ? "ok" : "err");
  info.Add("aof_last_cow_size", 0);
  if (!log.enabled) return;
  info.Add("aof_current_size", log.current_bytes);
  info.Add("aof_base_size", log.base_bytes);
  info.Add("aof_pending_rewrite", log.rewrite_scheduled ? 1 : 0);
  info.Add("aof_buffer_length", log.buffer_bytes);
  info.Add("aof_pending_bio_fsync", 0);
  info.Add("aof_delayed_fsync", log.delayed_syncs);
}

// Writes Redis's fields. Redis also knows how much memory was used when the file was written.
void AddLoading(const LoadingStatus& loading, Millis now, InfoWriter& info) {
  const uint64_t total = std::max<uint64_t>(loading.total_bytes, 1);
  const uint64_t loaded = std::min(loading.loaded_bytes, total);
  const int64_t elapsed = WholeSeconds(now - loading.started_at);
  const uint64_t left = total - loaded;
  info.Add("loading_start_time", WholeSeconds(loading.started_at));
  info.Add("loading_total_bytes", loading.total_bytes);
  info.Add("loading_rdb_used_mem", 0);
  info.Add("loading_loaded_bytes", loaded);
  info.AddFraction("loading_loaded_perc",
                   100 * static_cast<double>(loaded) / static_cast<double>(total));
  const auto eta = static_cast<double>(elapsed) * static_cast<double>(left) /
                   static_cast<double>(std::max<uint64_t>(loaded, 1));
  info.Add("loading_eta_seconds", loaded == 0 ? 1 : static_cast<int64_t>(eta));
}

}  // namespace

// There is no second process: a snapshot serializes its copies immediately.
void WritePersistence(InfoWriter& info, Engine& engine) {
  const Services& services = engine.services();
  const SnapshotStatus status = services.snapshots->snapshot_status();
  const LogStatus log = services.append_log->log_status();
  const size_t processed = log.rewriting ? log.keys_saved : status.keys_saved;
  const size_t expected = log.rewriting ? log.keys_to_save : status.keys_to_save;
  const double total = static_cast<double>(std::max<size_t>(expected, 1));
  const std::optional<LoadingStatus> loading = services.snapshots->loading();
  info.Section("Persistence");
  info.Add("loading", loading && !loading->is_beside ? 1 : 0);
  info.Add("async_loading", loading && loading->is_beside ? 1 : 0);
  Add(kBeforeKeys, info);
  info.AddFraction("current_fork_perc", 100 * static_cast<double>(processed) / total);
  info.Add("current_save_keys_processed", processed);
  info.Add("current_save_keys_total", expected);
  info.Add("rdb_changes_since_last_save", status.changes_since_last_save);
  info.Add("rdb_bgsave_in_progress", status.saving ? 1 : 0);
  info.Add("rdb_last_save_time", WholeSeconds(status.last_saved_at));
  info.Add("rdb_last_bgsave_status", status.last_save_ok ? "ok" : "err");
  info.Add("rdb_last_bgsave_time_sec", SecondsOrNone(status.last_save_took));
  info.Add("rdb_current_bgsave_time_sec", SecondsOrNone(status.saving_for));
  info.Add("rdb_saves", status.saves);
  info.Add("rdb_last_cow_size", 0);
  info.Add("rdb_last_load_keys_expired", status.keys_expired);
  info.Add("rdb_last_load_keys_loaded", status.keys_loaded);
  AddLog(log, info);
  Add(kAfterLog, info);
  if (loading) AddLoading(*loading, engine.store().now(), info);
}

}  // namespace zsetd
