#include "server/commands/diagnostics/info_replication.h"

#include <chrono>
#include <optional>
#include <string>

#include "server/engine/services/master_control.h"
#include "server/engine/services/replica_registry.h"
#include "server/engine/services/services.h"

namespace zsetd {
namespace {

int64_t SecondsOf(std::optional<Millis> time) {
  return time ? std::chrono::duration_cast<std::chrono::seconds>(*time).count() : -1;
}

void WriteSync(InfoWriter& info, const MasterLinkStatus& link) {
  const int64_t left = link.sync_total_bytes - link.sync_read_bytes;
  const double percent = link.sync_total_bytes == 0
                             ? 0
                             : 100 * static_cast<double>(link.sync_read_bytes) /
                                   static_cast<double>(link.sync_total_bytes);
  info.Add("master_sync_total_bytes", link.sync_total_bytes);
  info.Add("master_sync_read_bytes", link.sync_read_bytes);
  info.Add("master_sync_left_bytes", left);
  info.AddFraction("master_sync_perc", percent, 2);
  info.Add("master_sync_last_io_seconds_ago", SecondsOf(link.sync_silent_for));
}

void WriteMaster(InfoWriter& info, const Engine& engine, const MasterLinkStatus& link) {
  const Settings& settings = engine.settings();
  const ReplicationState& state = engine.replication();
  const MasterAddress master = MasterIn(settings).value_or(MasterAddress());
  info.Add("master_host", master.host);
  info.Add("master_port", master.port);
  info.Add("master_link_status", state.link_up() ? "up" : "down");
  info.Add("master_last_io_seconds_ago", SecondsOf(link.silent_for));
  info.Add("master_sync_in_progress", link.is_syncing ? 1 : 0);
  info.Add("slave_read_repl_offset", link.read_offset);
  info.Add("slave_repl_offset", link.applied_offset);
  if (link.is_syncing) WriteSync(info, link);
  if (!state.link_up()) info.Add("master_link_down_since_seconds", SecondsOf(link.down_for));
  info.Add("slave_priority", settings.replica_priority);
  info.Add("slave_read_only", settings.replica_read_only ? 1 : 0);
  info.Add("replica_announced", settings.replica_announced ? 1 : 0);
}

void WriteReplicas(InfoWriter& info, const Engine& engine) {
  const std::vector<ReplicaStatus> replicas = engine.services().replicas->replicas();
  info.Add("connected_slaves", replicas.size());
  if (engine.settings().min_replicas_to_write > 0 && engine.settings().min_replicas_max_lag > 0) {
    info.Add("min_slaves_good_slaves", engine.replication().good_replicas());
  }
  int number = 0;
  for (const ReplicaStatus& replica : replicas) {
    info.Add("slave" + std::to_string(number++),
             "ip=" + replica.address + ",port=" + std::to_string(replica.port) + ",state=" +
                 std::string(replica.state) + ",offset=" + std::to_string(replica.offset) +
                 ",lag=" + std::to_string(replica.lag_s));
  }
}

}  // namespace

void WriteReplication(InfoWriter& info, Engine& engine) {
  const Services& services = engine.services();
  const ReplicationState& state = engine.replication();
  const StreamStatus stream = services.replicas->stream();
  info.Section("Replication");
  info.Add("role", state.is_replica() ? "slave" : "master");
  if (state.is_replica()) WriteMaster(info, engine, services.master->master_link());
  WriteReplicas(info, engine);
  info.Add("master_failover_state", services.master->failover_state());
  info.Add("master_replid", state.id());
  info.Add("master_replid2", state.second_id());
  info.Add("master_repl_offset", state.offset());
  info.Add("second_repl_offset", state.second_offset());
  info.Add("repl_backlog_active", stream.has_backlog ? 1 : 0);
  info.Add("repl_backlog_size", engine.settings().repl_backlog_size);
  info.Add("repl_backlog_first_byte_offset", stream.backlog_first_offset);
  info.Add("repl_backlog_histlen", stream.backlog_bytes);
}

}  // namespace zsetd
