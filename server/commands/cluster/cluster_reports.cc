#include "server/commands/cluster/cluster_reports.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/commands/cluster/in_cluster.h"
#include "server/commands/common/reply_fields.h"

namespace zsetd {
namespace {

using Nodes = std::vector<ClusterNodeView>;

// The names of a node for clients, except its endpoint.
std::vector<std::pair<std::string_view, std::string_view>> OtherNames(const AdminCall& call,
                                                                      const ClusterNodeView& node) {
  const ClusterEndpointType type = call.engine.settings().cluster_preferred_endpoint_type;
  std::vector<std::pair<std::string_view, std::string_view>> names;
  if (type != ClusterEndpointType::kIp) names.emplace_back("ip", node.ip);
  if (type != ClusterEndpointType::kHostname && !node.hostname.empty()) {
    names.emplace_back("hostname", node.hostname);
  }
  return names;
}

std::optional<std::string_view> Endpoint(const ClusterNodeView& node) {
  return node.endpoint_is_known ? std::optional<std::string_view>(node.endpoint) : std::nullopt;
}

int64_t PortOf(const ClusterNodeView& node, bool tls) {
  const int64_t port = tls ? node.tls_port : node.port;
  return port != 0 ? port : std::max(node.port, node.tls_port);
}

// A node in CLUSTER SLOTS.
void ReplyNode(AdminCall& call, const ClusterNodeView& node) {
  call.reply.Array(4);
  call.reply.BulkOrNull(Endpoint(node));
  call.reply.Integer(PortOf(node, UsesTls(call)));
  call.reply.Bulk(node.id);
  const auto names = OtherNames(call, node);
  call.reply.Map(names.size());
  ReplyFields fields(call.reply);
  for (const auto& [name, value] : names) fields.Text(name, value);
}

// Whether clients can read from a replica: it has received its master's data.
bool HasData(const ClusterNodeView& node) {
  return !node.is_replica || node.replication_offset != 0;
}

std::string_view HealthOf(const AdminCall& call, const ClusterNodeView& node) {
  if (node.has_failed) return "fail";
  const bool is_loading = node.is_self && call.engine.mode().is_loading();
  return is_loading || !HasData(node) ? "loading" : "online";
}

// A node in CLUSTER SHARDS.
void ReplyShardNode(AdminCall& call, const ClusterNodeView& node) {
  const bool has_hostname = !node.hostname.empty();
  call.reply.Map(6 + (node.port != 0) + (node.tls_port != 0) + has_hostname);
  ReplyFields fields(call.reply);
  fields.Text("id", node.id);
  if (node.port != 0) fields.Number("port", static_cast<uint64_t>(node.port));
  if (node.tls_port != 0) fields.Number("tls-port", static_cast<uint64_t>(node.tls_port));
  fields.Text("ip", node.ip);
  call.reply.Bulk("endpoint");
  call.reply.BulkOrNull(Endpoint(node));
  if (has_hostname) fields.Text("hostname", node.hostname);
  fields.Text("role", node.is_replica ? "replica" : "master");
  fields.Number("replication-offset", node.replication_offset);
  fields.Text("health", HealthOf(call, node));
}

// The master of a shard, and its replicas.
std::vector<const ClusterNodeView*> ShardOf(const Nodes& nodes, const ClusterNodeView& master) {
  std::vector<const ClusterNodeView*> shard = {&master};
  for (const ClusterNodeView& node : nodes) {
    if (node.master_id == master.id) shard.push_back(&node);
  }
  return shard;
}

// Types without messages are left out.
void AddMessages(std::string& text, const ClusterBusStatus& bus, std::string_view direction,
                 uint64_t ClusterMessageCount::*count) {
  const auto add = [&](std::string_view type, uint64_t number) {
    text.append("cluster_stats_messages_").append(type).append(direction).append(":");
    text.append(std::to_string(number)).append("\r\n");
  };
  for (const ClusterMessageCount& each : bus.messages) {
    if (each.*count != 0) add(std::string(each.type) + "_", each.*count);
  }
  add("", bus.Sum(count));
}

}  // namespace

void ClusterInfo(AdminCall& call) {
  const ClusterSummary summary = ClusterOf(call).Summary();
  std::string text = std::string("cluster_state:") + (summary.is_up ? "ok" : "fail") + "\r\n";
  const auto add = [&](std::string_view name, uint64_t number) {
    text.append(name).append(":").append(std::to_string(number)).append("\r\n");
  };
  add("cluster_slots_assigned", summary.assigned_slots);
  add("cluster_slots_ok", summary.working_slots());
  add("cluster_slots_pfail", summary.suspected_slots);
  add("cluster_slots_fail", summary.failed_slots);
  add("cluster_known_nodes", summary.nodes);
  add("cluster_size", summary.masters_with_slots);
  add("cluster_current_epoch", summary.current_epoch);
  add("cluster_my_epoch", summary.own_epoch);
  const ClusterBusStatus bus = ClusterOf(call).BusStatus();
  AddMessages(text, bus, "sent", &ClusterMessageCount::sent);
  AddMessages(text, bus, "received", &ClusterMessageCount::received);
  add("total_cluster_links_buffer_limit_exceeded", bus.overflows);
  call.reply.Verbatim("txt", text);
}

void ClusterNodes(AdminCall& call) {
  call.reply.Verbatim("txt", ClusterOf(call).NodesText(UsesTls(call)));
}

// The ranges of all masters in the order of the slots, each with its master and its replicas that
// have data and have not failed.
void ClusterSlots(AdminCall& call) {
  const Nodes nodes = ClusterOf(call).Nodes();
  std::map<uint16_t, std::pair<SlotRange, const ClusterNodeView*>> ranges;
  for (const ClusterNodeView& node : nodes) {
    for (const SlotRange range : node.ranges) ranges[range.first] = {range, &node};
  }
  call.reply.Array(ranges.size());
  for (const auto& entry : ranges) {
    const SlotRange range = entry.second.first;
    const ClusterNodeView& master = *entry.second.second;
    std::vector<const ClusterNodeView*> shard = ShardOf(nodes, master);
    std::erase_if(shard, [&](const ClusterNodeView* node) {
      return node != &master && (node->has_failed || !HasData(*node));
    });
    call.reply.Array(2 + shard.size());
    call.reply.Integer(range.first);
    call.reply.Integer(range.last);
    for (const ClusterNodeView* node : shard) ReplyNode(call, *node);
  }
}

void ClusterShards(AdminCall& call) {
  const Nodes nodes = ClusterOf(call).Nodes();
  const auto is_master = [](const ClusterNodeView& node) { return node.master_id.empty(); };
  call.reply.Array(static_cast<size_t>(std::ranges::count_if(nodes, is_master)));
  for (const ClusterNodeView& master : nodes) {
    if (!is_master(master)) continue;
    call.reply.Map(2);
    call.reply.Bulk("slots");
    call.reply.Array(2 * master.ranges.size());
    for (const SlotRange range : master.ranges) {
      call.reply.Integer(range.first);
      call.reply.Integer(range.last);
    }
    call.reply.Bulk("nodes");
    const std::vector<const ClusterNodeView*> shard = ShardOf(nodes, master);
    call.reply.Array(shard.size());
    for (const ClusterNodeView* node : shard) ReplyShardNode(call, *node);
  }
}

void ClusterLinks(AdminCall& call) {
  const std::vector<ClusterLinkView> links = ClusterOf(call).Links();
  call.reply.Array(links.size());
  for (const ClusterLinkView& link : links) {
    call.reply.Map(6);
    ReplyFields fields(call.reply);
    fields.Text("direction", link.is_incoming ? "from" : "to");
    fields.Text("node", link.node_id);
    fields.Number("create-time", static_cast<uint64_t>(link.created));
    fields.Text("events", link.unsent_bytes == 0 ? "r" : "rw");
    fields.Number("send-buffer-allocated", link.capacity);
    fields.Number("send-buffer-used", link.unsent_bytes);
  }
}

void ClusterReplicas(AdminCall& call) {
  const auto lines = ClusterOf(call).ReplicaLines(call.args.Word(), UsesTls(call));
  if (!lines.ok()) return call.Fail(lines.status());
  call.reply.Array(lines->size());
  for (const std::string& line : *lines) call.reply.Bulk(line);
}

}  // namespace zsetd
