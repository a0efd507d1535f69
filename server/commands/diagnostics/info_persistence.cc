#include "server/commands/diagnostics/info_persistence.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include "server/engine/services.h"

namespace zsetd {
namespace {

using Field = std::pair<std::string_view, std::string_view>;

constexpr Field kBeforeKeys[] = {
    {"loading", "0"},          {"async_loading", "0"},        {"current_cow_peak", "0"},
    {"current_cow_size", "0"}, {"current_cow_size_age", "0"},
};

constexpr Field kLog[] = {
    {"aof_enabled", "0"},
    {"aof_rewrite_in_progress", "0"},
    {"aof_rewrite_scheduled", "0"},
    {"aof_last_rewrite_time_sec", "-1"},
    {"aof_current_rewrite_time_sec", "-1"},
    {"aof_last_bgrewrite_status", "ok"},
    {"aof_rewrites", "0"},
    {"aof_rewrites_consecutive_failures", "0"},
    {"aof_last_write_status", "ok"},
    {"aof_last_cow_size", "0"},
    {"module_fork_in_progress", "0"},
    {"module_fork_last_cow_size", "0"},
};

int64_t Seconds(Millis time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

int64_t SecondsOrNone(std::optional<Millis> time) { return time ? Seconds(*time) : -1; }

void Add(std::span<const Field> fields, InfoWriter& info) {
  for (const auto& [name, value] : fields) info.Add(name, value);
}

}  // namespace

// There is no second process: what is copied for a snapshot is serialized at once.
void WritePersistence(InfoWriter& info, Engine& engine) {
  const Persistence* persistence = engine.persistence();
  SnapshotStatus status = {.last_saved_at = engine.started_at(),
                           .changes_since_last_save = engine.change_count()};
  if (persistence != nullptr) status = persistence->status();
  const double total = static_cast<double>(std::max<size_t>(status.keys_to_save, 1));
  info.Section("Persistence");
  Add(kBeforeKeys, info);
  info.AddFraction("current_fork_perc", 100 * static_cast<double>(status.keys_saved) / total);
  info.Add("current_save_keys_processed", status.keys_saved);
  info.Add("current_save_keys_total", status.keys_to_save);
  info.Add("rdb_changes_since_last_save", status.changes_since_last_save);
  info.Add("rdb_bgsave_in_progress", status.saving ? 1 : 0);
  info.Add("rdb_last_save_time", Seconds(status.last_saved_at));
  info.Add("rdb_last_bgsave_status", status.last_save_ok ? "ok" : "err");
  info.Add("rdb_last_bgsave_time_sec", SecondsOrNone(status.last_save_took));
  info.Add("rdb_current_bgsave_time_sec", SecondsOrNone(status.saving_for));
  info.Add("rdb_saves", status.saves);
  info.Add("rdb_last_cow_size", 0);
  info.Add("rdb_last_load_keys_expired", status.keys_expired);
  info.Add("rdb_last_load_keys_loaded", status.keys_loaded);
  Add(kLog, info);
}

}  // namespace zsetd
