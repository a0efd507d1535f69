#include "server/commands/diagnostics/info_persistence.h"

#include <chrono>
#include <string_view>
#include <utility>

namespace zsetd {
namespace {

using Field = std::pair<std::string_view, std::string_view>;

constexpr Field kBeforeChanges[] = {
    {"loading", "0"},
    {"async_loading", "0"},
    {"current_cow_peak", "0"},
    {"current_cow_size", "0"},
    {"current_cow_size_age", "0"},
    {"current_fork_perc", "0.00"},
    {"current_save_keys_processed", "0"},
    {"current_save_keys_total", "0"},
};

constexpr Field kSnapshots[] = {
    {"rdb_last_bgsave_status", "ok"},
    {"rdb_last_bgsave_time_sec", "-1"},
    {"rdb_current_bgsave_time_sec", "-1"},
    {"rdb_saves", "0"},
    {"rdb_last_cow_size", "0"},
    {"rdb_last_load_keys_expired", "0"},
    {"rdb_last_load_keys_loaded", "0"},
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

void Add(std::span<const Field> fields, InfoWriter& info) {
  for (const auto& [name, value] : fields) info.Add(name, value);
}

}  // namespace

// As in Redis, the start counts as the last time that all was saved: there was nothing then.
void WritePersistence(InfoWriter& info, Engine& engine) {
  const auto started_at =
      std::chrono::duration_cast<std::chrono::seconds>(engine.started_at()).count();
  info.Section("Persistence");
  Add(kBeforeChanges, info);
  info.Add("rdb_changes_since_last_save", engine.change_count());
  info.Add("rdb_bgsave_in_progress", 0);
  info.Add("rdb_last_save_time", started_at);
  Add(kSnapshots, info);
  Add(kLog, info);
}

}  // namespace zsetd
