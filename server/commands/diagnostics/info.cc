#include "server/commands/diagnostics/info.h"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <string>

#include "server/commands/diagnostics/families.h"
#include "server/commands/diagnostics/info_memory.h"
#include "server/commands/diagnostics/info_persistence.h"
#include "server/commands/diagnostics/info_replication.h"
#include "server/commands/diagnostics/info_stats.h"
#include "server/commands/diagnostics/info_writer.h"
#include "server/engine/admin_call.h"
#include "server/engine/engine.h"
#include "server/engine/services/cluster_control.h"
#include "server/engine/services/network_control.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/process_stats.h"
#include "server/engine/support/redis_version.h"

namespace zsetd {
namespace {

double Seconds(Micros time) { return std::chrono::duration<double>(time).count(); }

// As in Redis: the seconds of which an object keeps the lowest 24 bits.
int64_t LruClock(Millis now) {
  return std::chrono::duration_cast<std::chrono::seconds>(now).count() & 0xffffff;
}

// The listening addresses, as in Redis since version 7.2.
void WriteListeners(InfoWriter& info, const Settings& settings) {
  std::string listener = "name=tcp";
  std::istringstream addresses(settings.bind);
  for (std::string address; addresses >> address;) listener += ",bind=" + address;
  info.Add("listener0", listener + ",port=" + std::to_string(settings.port));
}

void WriteServer(InfoWriter& info, Engine& engine) {
  const int64_t uptime_s = (engine.store().now() - engine.identity().started_at()).count() / 1000;
  info.Section("Server");
  info.Add("redis_version", kRedisVersion);
  info.Add("zsetd_version", ZSETD_VERSION);
  info.Add("redis_git_sha1", "00000000");
  info.Add("redis_git_dirty", 0);
  info.Add("redis_build_id", 0);
  info.Add("redis_mode", engine.settings().cluster_enabled ? "cluster" : "standalone");
  info.Add("os", OperatingSystem());
  info.Add("arch_bits", 8 * sizeof(void*));
  info.Add("monotonic_clock", "POSIX clock_gettime");
  info.Add("multiplexing_api", "epoll");
  info.Add("atomicvar_api", "c11-builtin");
  info.Add("gcc_version", __VERSION__);
  info.Add("process_id", ProcessId());
  info.Add("process_supervised", engine.host().supervisor);
  info.Add("run_id", engine.identity().run_id());
  info.Add("tcp_port", engine.settings().port);
  info.Add("server_time_usec", engine.host().wall_clock().count());
  info.Add("uptime_in_seconds", uptime_s);
  info.Add("uptime_in_days", uptime_s / (24 * 60 * 60));
  info.Add("hz", engine.settings().hz);
  info.Add("configured_hz", engine.settings().hz);
  info.Add("lru_clock", LruClock(engine.store().now()));
  info.Add("executable", engine.host().executable);
  info.Add("config_file", engine.host().config_file);
  info.Add("io_threads_active", engine.settings().io_threads > 1 ? 1 : 0);
  if (const std::optional<Millis> left = engine.shutdown().TimeLeft()) {
    info.Add("shutdown_in_milliseconds", left->count());
  }
  WriteListeners(info, engine.settings());
}

// Totals and maxima over all clients.
struct ClientFigures {
  size_t largest_input = 0;   // bytes of a buffer
  size_t largest_output = 0;  // bytes that are not sent yet
  size_t subscribers = 0;
  size_t watching = 0;
  size_t connected = 0;  // including the master, excluding replicas
};

ClientFigures Measure(const Engine& engine) {
  ClientFigures figures;
  if (engine.replication().link_up()) ++figures.connected;
  for (const auto& [id, client] : engine.clients().all()) {
    figures.largest_input = std::max(figures.largest_input, client->connection.input_capacity);
    figures.largest_output = std::max(figures.largest_output, client->output.UnsentBytes());
    if (!client->IsReplica()) ++figures.connected;
    if (client->IsSubscriber()) ++figures.subscribers;
    if (!client->transaction.watched().empty()) ++figures.watching;
  }
  return figures;
}

void WriteClients(InfoWriter& info, Engine& engine) {
  const ClientFigures figures = Measure(engine);
  info.Section("Clients");
  info.Add("connected_clients", figures.connected);
  info.Add("cluster_connections", engine.services().cluster->BusStatus().connections);
  info.Add("maxclients", engine.settings().maxclients);
  info.Add("client_recent_max_input_buffer", figures.largest_input);
  info.Add("client_recent_max_output_buffer", figures.largest_output);
  info.Add("blocked_clients",
           engine.notifier().blocked_clients().count() + engine.clients().pause().postponed() +
               engine.executor().overdue().size() + engine.shutdown().waiting_clients());
  info.Add("tracking_clients", engine.notifier().tracking().client_count());
  info.Add("pubsub_clients", figures.subscribers);
  info.Add("watching_clients", figures.watching);
  info.Add("clients_in_timeout_table", engine.notifier().blocked_clients().with_deadline());
  info.Add("total_watched_keys", engine.notifier().watches().key_count());
  info.Add("total_blocking_keys", engine.notifier().blocked_clients().key_count());
  info.Add("total_blocking_keys_on_nokey", 0);  // no command waits for the deletion of a key
}

std::string ThreadText(const NetworkStatus::Thread& thread) {
  return "clients=" + std::to_string(thread.clients) + ",reads=" + std::to_string(thread.reads) +
         ",writes=" + std::to_string(thread.writes) +
         ",requests=" + std::to_string(thread.requests) +
         ",busy_us=" + std::to_string(thread.busy.count());
}

// Reports the threads that serve clients, and the lock by which they take turns with the engine.
void WriteThreads(InfoWriter& info, Engine& engine) {
  const NetworkStatus status = engine.services().network->network_status();
  info.Section("Threads");
  for (size_t i = 0; i < status.threads.size(); ++i) {
    info.Add("io_thread_" + std::to_string(i), ThreadText(status.threads[i]));
  }
  info.Add("engine_lock_exclusive_us", status.lock.held.count());
  info.Add("engine_lock_wait_us", status.lock.waited.count());
  info.Add("engine_lock_waits", status.lock.waits);
  info.Add("engine_lock_longest_exclusive_us", status.lock.longest_hold.count());
  info.Add("engine_lock_longest_wait_us", status.lock.longest_wait.count());
  info.Add("engine_lock_wait_p999_us", status.lock.wait_p999.count());
  info.Add("engine_lock_shared_turns", status.shared.turns);
  info.Add("engine_lock_shared_requests", status.shared.requests);
  info.Add("engine_lock_shared_us", status.shared.held.count());
  info.Add("engine_lock_shared_wait_us", status.shared.waited.count());
  info.Add("engine_lock_shared_waits", status.shared.waits);
  info.Add("engine_lock_longest_shared_us", status.shared.longest_hold.count());
  info.Add("engine_lock_longest_shared_wait_us", status.shared.longest_wait.count());
}

void WriteCpu(InfoWriter& info, Engine&) {
  constexpr int kDigits = 6;
  const CpuTimes process = CpuTimesOfProcess();
  const CpuTimes thread = CpuTimesOfMainThread();
  info.Section("CPU");
  info.AddFraction("used_cpu_sys", Seconds(process.system), kDigits);
  info.AddFraction("used_cpu_user", Seconds(process.user), kDigits);
  info.AddFraction("used_cpu_sys_children", 0, kDigits);
  info.AddFraction("used_cpu_user_children", 0, kDigits);
  info.AddFraction("used_cpu_sys_main_thread", Seconds(thread.system), kDigits);
  info.AddFraction("used_cpu_user_main_thread", Seconds(thread.user), kDigits);
}

void WriteModules(InfoWriter& info, Engine&) { info.Section("Modules"); }

// The figures of CLUSTER INFO are here, too, for monitoring that reads INFO only.
void WriteCluster(InfoWriter& info, Engine& engine) {
  info.Section("Cluster");
  info.Add("cluster_enabled", engine.settings().cluster_enabled ? 1 : 0);
  if (!engine.settings().cluster_enabled) return;
  const ClusterSummary summary = engine.services().cluster->Summary();
  info.Add("cluster_state", summary.is_up ? "ok" : "fail");
  info.Add("cluster_slots_assigned", summary.assigned_slots);
  info.Add("cluster_slots_ok", summary.working_slots());
  info.Add("cluster_slots_pfail", summary.suspected_slots);
  info.Add("cluster_slots_fail", summary.failed_slots);
  info.Add("cluster_known_nodes", summary.nodes);
  info.Add("cluster_size", summary.masters_with_slots);
  info.Add("cluster_current_epoch", summary.current_epoch);
  info.Add("cluster_my_epoch", summary.own_epoch);
  const ClusterBusStatus bus = engine.services().cluster->BusStatus();
  info.Add("cluster_stats_messages_sent", bus.sent());
  info.Add("cluster_stats_messages_received", bus.received());
}

// Redis only has deadlines of fields. Here `subexpiry` also counts sorted sets whose members have
// deadlines.
void WriteKeyspace(InfoWriter& info, Engine& engine) {
  info.Section("Keyspace");
  for (int index = 0; index < engine.store().database_count(); ++index) {
    const Keyspace& keys = engine.store().database(index).keys();
    const size_t visible = keys.visible_size();
    if (visible == 0) continue;
    info.Add("db" + std::to_string(index),
             "keys=" + std::to_string(visible) +
                 ",expires=" + std::to_string(std::min(keys.with_deadline(), visible)) +
                 ",avg_ttl=" + std::to_string(keys.AverageTimeToLive().count()) +
                 ",subexpiry=" + std::to_string(keys.with_element_deadlines()));
  }
}

constexpr InfoSection kSections[] = {
    {"server", WriteServer},           {"clients", WriteClients},
    {"memory", WriteMemory},           {"persistence", WritePersistence},
    {"threads", WriteThreads},         {"stats", WriteStats},
    {"replication", WriteReplication}, {"cpu", WriteCpu},
    {"modules", WriteModules},         {"commandstats", WriteCommandStats, /*by_default=*/false},
    {"errorstats", WriteErrorStats},   {"latencystats", WriteLatencyStats, /*by_default=*/false},
    {"cluster", WriteCluster},         {"keyspace", WriteKeyspace},
};

bool IsAskedFor(const InfoSection& section, Args names) {
  if (names.empty()) return section.by_default;
  return std::ranges::any_of(names, [&](std::string_view name) {
    if (EqualsIgnoringCase(name, "default")) return section.by_default;
    return EqualsIgnoringCase(name, section.name) || EqualsIgnoringCase(name, "all") ||
           EqualsIgnoringCase(name, "everything");
  });
}

void Info(AdminCall& call) { call.reply.Verbatim("txt", InfoText(call.engine, call.args.Rest())); }

constexpr Command kInfoCommands[] = {
    {.name = "info",
     .run = Info,
     .arity = -1,
     .flags = kLoading | kStale | kDangerous,
     .inspects = true,
     .group = CommandGroup::kServer,
     .since = "1.0.0",
     .usage = "[section [section ...]]",
     .summary = "Returns server information and statistics.",
     .cost = "O(N) for N clients",
     .tips = "nondeterministic_output request_policy:all_shards response_policy:special"},
};

}  // namespace

std::span<const InfoSection> InfoSections() { return kSections; }

std::string InfoText(Engine& engine, Args names) {
  InfoWriter info;
  for (const InfoSection& section : kSections) {
    if (IsAskedFor(section, names)) section.write(info, engine);
  }
  return info.text();
}

std::span<const Command> InfoCommands() { return kInfoCommands; }

}  // namespace zsetd
