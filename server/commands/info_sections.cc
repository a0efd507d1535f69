#include "server/commands/info_sections.h"

#include <algorithm>
#include <chrono>

#include "server/commands/info_memory.h"
#include "server/commands/info_stats.h"
#include "server/engine/arg_reader.h"
#include "server/engine/process_stats.h"
#include "server/engine/redis_version.h"

namespace zsetd {
namespace {

double Seconds(Micros time) { return std::chrono::duration<double>(time).count(); }

void WriteServer(InfoWriter& info, Engine& engine) {
  const int64_t uptime_s = (engine.now() - engine.started_at()).count() / 1000;
  info.Section("Server");
  info.Add("redis_version", kRedisVersion);
  info.Add("zsetd_version", ZSETD_VERSION);
  info.Add("redis_mode", "standalone");
  info.Add("os", OperatingSystem());
  info.Add("arch_bits", 8 * sizeof(void*));
  info.Add("multiplexing_api", "epoll");
  info.Add("gcc_version", __VERSION__);
  info.Add("process_id", ProcessId());
  info.Add("run_id", engine.run_id());
  info.Add("tcp_port", engine.settings().port);
  info.Add("server_time_usec", engine.host().wall_clock().count());
  info.Add("uptime_in_seconds", uptime_s);
  info.Add("uptime_in_days", uptime_s / (24 * 60 * 60));
  info.Add("hz", engine.settings().hz);
  info.Add("configured_hz", engine.settings().hz);
  info.Add("executable", engine.host().executable);
  info.Add("config_file", engine.host().config_file);
  info.Add("io_threads_active", 0);
}

void WriteClients(InfoWriter& info, Engine& engine) {
  const auto subscribers = std::ranges::count_if(
      engine.clients(), [](const auto& each) { return each.second->IsSubscriber(); });
  info.Section("Clients");
  info.Add("connected_clients", engine.clients().size());
  info.Add("cluster_connections", 0);
  info.Add("maxclients", engine.settings().maxclients);
  info.Add("blocked_clients", engine.blocked_clients());
  info.Add("tracking_clients", engine.tracking().client_count());
  info.Add("pubsub_clients", subscribers);
}

void WritePersistence(InfoWriter& info, Engine& engine) {
  info.Section("Persistence");
  info.Add("loading", 0);
  info.Add("async_loading", 0);
  info.Add("rdb_changes_since_last_save", engine.change_count());
  info.Add("rdb_bgsave_in_progress", 0);
  info.Add("rdb_saves", 0);
  info.Add("aof_enabled", 0);
  info.Add("aof_rewrite_in_progress", 0);
  info.Add("aof_rewrite_scheduled", 0);
  info.Add("aof_rewrites", 0);
}

void WriteReplication(InfoWriter& info, Engine& engine) {
  info.Section("Replication");
  info.Add("role", "master");
  info.Add("connected_slaves", 0);
  info.Add("master_failover_state", "no-failover");
  info.Add("master_replid", engine.replication_id());
  info.Add("master_replid2", std::string(40, '0'));
  info.Add("master_repl_offset", 0);
  info.Add("second_repl_offset", -1);
  info.Add("repl_backlog_active", 0);
}

void WriteCpu(InfoWriter& info, Engine&) {
  constexpr int kDigits = 6;
  const CpuTimes process = CpuTimesOfProcess();
  const CpuTimes thread = CpuTimesOfThread();
  info.Section("CPU");
  info.AddFraction("used_cpu_sys", Seconds(process.system), kDigits);
  info.AddFraction("used_cpu_user", Seconds(process.user), kDigits);
  info.AddFraction("used_cpu_sys_children", 0, kDigits);
  info.AddFraction("used_cpu_user_children", 0, kDigits);
  info.AddFraction("used_cpu_sys_main_thread", Seconds(thread.system), kDigits);
  info.AddFraction("used_cpu_user_main_thread", Seconds(thread.user), kDigits);
}

void WriteModules(InfoWriter& info, Engine&) { info.Section("Modules"); }

void WriteCluster(InfoWriter& info, Engine&) {
  info.Section("Cluster");
  info.Add("cluster_enabled", 0);
}

void WriteKeyspace(InfoWriter& info, Engine& engine) {
  info.Section("Keyspace");
  for (int index = 0; index < engine.database_count(); ++index) {
    const Keyspace& keys = engine.database(index).keys();
    if (keys.size() == 0) continue;
    info.Add("db" + std::to_string(index),
             "keys=" + std::to_string(keys.size()) +
                 ",expires=" + std::to_string(keys.with_deadline()) +
                 ",avg_ttl=" + std::to_string(keys.AverageTimeToLive().count()));
  }
}

constexpr InfoSection kSections[] = {
    {"server", WriteServer},
    {"clients", WriteClients},
    {"memory", WriteMemory},
    {"persistence", WritePersistence},
    {"stats", WriteStats},
    {"replication", WriteReplication},
    {"cpu", WriteCpu},
    {"modules", WriteModules},
    {"commandstats", WriteCommandStats, /*by_default=*/false},
    {"errorstats", WriteErrorStats},
    {"cluster", WriteCluster},
    {"keyspace", WriteKeyspace},
};

bool IsAskedFor(const InfoSection& section, Words names) {
  if (names.empty()) return section.by_default;
  return std::ranges::any_of(names, [&](std::string_view name) {
    if (EqualsIgnoringCase(name, "default")) return section.by_default;
    return EqualsIgnoringCase(name, section.name) || EqualsIgnoringCase(name, "all") ||
           EqualsIgnoringCase(name, "everything");
  });
}

}  // namespace

std::span<const InfoSection> InfoSections() { return kSections; }

std::string InfoText(Engine& engine, Words names) {
  InfoWriter info;
  for (const InfoSection& section : kSections) {
    if (IsAskedFor(section, names)) section.write(info, engine);
  }
  return info.text();
}

}  // namespace zsetd
