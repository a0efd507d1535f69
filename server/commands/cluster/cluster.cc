// CLUSTER: the nodes and slots of a cluster (docs/cluster.md).
#include <optional>
#include <string>
#include <string_view>

#include "protocol/text/number_text.h"
#include "server/commands/cluster/cluster_migrations.h"
#include "server/commands/cluster/cluster_reports.h"
#include "server/commands/cluster/cluster_slot_stats.h"
#include "server/commands/cluster/cluster_slots.h"
#include "server/commands/cluster/families.h"
#include "server/commands/cluster/in_cluster.h"
#include "server/commands/common/help.h"

namespace zsetd {
namespace {

// The error for more words than a subcommand takes.
std::string TooManyWords(std::string_view name) {
  return "ERR unknown subcommand or wrong number of arguments for '" +
         std::string(name.substr(0, 128)) + "'. Try CLUSTER HELP.";
}

void BumpEpoch(AdminCall& call) {
  bool has_changed = false;
  const absl::StatusOr<uint64_t> epoch = ClusterOf(call).BumpEpoch(has_changed);
  if (!epoch.ok()) return call.Fail(epoch.status());
  call.reply.Simple((has_changed ? "BUMPED " : "STILL ") + std::to_string(*epoch));
}

void SetConfigEpoch(AdminCall& call) {
  const int64_t epoch = call.args.Integer();
  if (call.Refused()) return;
  ReplyStatus(call, ClusterOf(call).SetConfigEpoch(epoch));
}

void CountFailureReports(AdminCall& call) {
  const absl::StatusOr<size_t> count = ClusterOf(call).CountFailureReports(call.args.Word());
  if (!count.ok()) return call.Fail(count.status());
  call.reply.Integer(static_cast<int64_t>(*count));
}

void MyId(AdminCall& call) { call.reply.Bulk(ClusterOf(call).Id()); }
void MyShardId(AdminCall& call) { call.reply.Bulk(ClusterOf(call).ShardId()); }

void Forget(AdminCall& call) { ReplyStatus(call, ClusterOf(call).Forget(call.args.Word())); }
void Replicate(AdminCall& call) { ReplyStatus(call, ClusterOf(call).Replicate(call.args.Word())); }
void SaveConfig(AdminCall& call) { ReplyStatus(call, ClusterOf(call).Save()); }

void ResetNode(AdminCall& call) {
  if (call.args.left() > 1) return call.Fail(TooManyWords(call.argv()[1]));
  const bool is_hard = call.args.Take("hard");
  if (!is_hard) call.args.Take("soft");
  call.args.End();
  if (call.Refused()) return;
  ReplyStatus(call, ClusterOf(call).Reset(is_hard));
}

// The port's text, or a refusal with Redis's line.
int64_t TakePort(ArgReader& args, std::string_view name) {
  const std::string_view word = args.Word();
  const std::optional<int64_t> port = ParseInteger(word);
  if (!port) {
    args.Refuse("ERR Invalid " + std::string(name) + " port specified: " + std::string(word));
  }
  return port.value_or(0);
}

void Meet(AdminCall& call) {
  constexpr int64_t kBusPortDistance = 10000;
  constexpr size_t kMostWords = 3;
  if (call.args.left() > kMostWords) return call.Fail(TooManyWords(call.argv()[1]));
  const std::string_view ip = call.args.Word();
  const int64_t port = TakePort(call.args, "TCP base");
  const int64_t bus_port =
      call.args.AtEnd() ? port + kBusPortDistance : TakePort(call.args, "TCP bus");
  if (call.Refused()) return;
  ReplyStatus(call, ClusterOf(call).Meet(ip, port, bus_port));
}

void FailOver(AdminCall& call) {
  if (call.args.left() > 1) return call.Fail(TooManyWords(call.argv()[1]));
  ClusterFailover kind = ClusterFailover::kAgreed;
  if (call.args.Take("force")) {
    kind = ClusterFailover::kForced;
  } else if (call.args.Take("takeover")) {
    kind = ClusterFailover::kTakeover;
  }
  call.args.End();
  if (call.Refused()) return;
  ReplyStatus(call, ClusterOf(call).FailOver(kind));
}

constexpr uint32_t kQuery = kStale;
constexpr uint32_t kAdminQuery = kAdmin | kStale;
constexpr uint32_t kChange = kAdmin | kStale | kNoAsyncLoading;
constexpr std::string_view kVaries = "nondeterministic_output";
constexpr std::string_view kConstant = "O(1)";
constexpr std::string_view kPerSlot = "O(N) for N slots, and a sync of nodes.conf to disk";
constexpr std::string_view kPerNode = "O(N) for N nodes";

struct Description {
  std::string_view usage = {};
  std::string_view summary;
  std::string_view cost = kConstant;
  std::string_view tips = {};
};

constexpr Command Subcommand(std::string_view name, CommandFunction run, int arity, uint32_t flags,
                             std::string_view since, const Description& description) {
  return {.name = name,
          .run = run,
          .arity = arity,
          .flags = flags,
          .group = CommandGroup::kCluster,
          .since = since,
          .usage = description.usage,
          .summary = description.summary,
          .cost = description.cost,
          .tips = description.tips};
}

constexpr Command kClusterCommands[] = {
    {.name = "cluster",
     .arity = -2,
     .group = CommandGroup::kCluster,
     .since = "3.0.0",
     .summary = "A container for cluster commands.",
     .cost = "Depends on the subcommand"},
    Subcommand("cluster|addslots", InCluster<AddSlots>, -3, kChange, "3.0.0",
               {"slot [slot ...]", "Assigns slots without an owner to this node.", kPerSlot}),
    Subcommand("cluster|addslotsrange", InCluster<AddSlotsRange>, -4, kChange, "7.0.0",
               {"start-slot end-slot [start-slot end-slot ...]",
                "Assigns ranges of slots without an owner to this node.", kPerSlot}),
    Subcommand("cluster|bumpepoch", InCluster<BumpEpoch>, 2, kChange, "3.0.0",
               {"", "Gives this node the greatest epoch of the cluster.", kConstant, kVaries}),
    Subcommand("cluster|cancelslotmigrations", InCluster<CancelSlotMigrations>, 2, kAdmin | kStale,
               "Valkey 9.0.0",
               {"", "Ends the migrations of slots from this node.", "O(N) for N migrations"}),
    Subcommand("cluster|count-failure-reports", InCluster<CountFailureReports>, 3, kAdminQuery,
               "3.0.0",
               {"node-id", "Returns the number of masters that report the failure of a node.",
                "O(N) for N reports", kVaries}),
    Subcommand("cluster|countkeysinslot", InCluster<CountKeysInSlot>, 3, kQuery, "3.0.0",
               {"slot", "Returns the number of keys in a slot."}),
    Subcommand("cluster|delslots", InCluster<DelSlots>, -3, kChange, "3.0.0",
               {"slot [slot ...]", "Removes the owners of slots.", kPerSlot}),
    Subcommand("cluster|delslotsrange", InCluster<DelSlotsRange>, -4, kChange, "7.0.0",
               {"start-slot end-slot [start-slot end-slot ...]",
                "Removes the owners of ranges of slots.", kPerSlot}),
    Subcommand("cluster|failover", InCluster<FailOver>, -2, kChange, "3.0.0",
               {"[FORCE|TAKEOVER]", "Promotes this replica to the master of its shard."}),
    Subcommand("cluster|flushslots", InCluster<FlushSlots>, 2, kChange, "3.0.0",
               {"", "Removes this node as the owner of all its slots.", kPerSlot}),
    Subcommand("cluster|forget", InCluster<Forget>, 3, kChange, "3.0.0",
               {"node-id", "Removes a node from those that this node knows.", kPerSlot}),
    Subcommand("cluster|getkeysinslot", InCluster<GetKeysInSlot>, 4, kQuery, "3.0.0",
               {"slot count", "Returns keys of a slot.", "O(N) for N replied keys", kVaries}),
    Subcommand("cluster|getslotmigrations", InCluster<GetSlotMigrations>, 2, kAdminQuery,
               "Valkey 9.0.0",
               {"", "Returns the migrations of slots that run or have ended.",
                "O(N) for N migrations", kVaries}),
    Subcommand("cluster|help", InCluster<Help>, 2, kLoading | kStale, "5.0.0",
               {"", "Returns help about the subcommands."}),
    Subcommand("cluster|info", InCluster<ClusterInfo>, 2, kQuery, "3.0.0",
               {"", "Returns the state of the cluster as this node sees it.", kConstant, kVaries}),
    Subcommand("cluster|keyslot", InCluster<KeySlotOf>, 3, kQuery, "3.0.0",
               {"key", "Returns the slot of a key.", "O(N) for N bytes of the key"}),
    Subcommand("cluster|links", InCluster<ClusterLinks>, 2, kQuery, "7.0.0",
               {"", "Returns the links of the cluster bus.", kPerNode, kVaries}),
    Subcommand("cluster|meet", InCluster<Meet>, -4, kChange, "3.0.0",
               {"ip port [cluster-bus-port]", "Introduces another node to this one."}),
    Subcommand(
        "cluster|migrateslots", InCluster<MigrateSlots>, -4, kChange, "Valkey 9.0.0",
        {"SLOTSRANGE start-slot end-slot [start-slot end-slot ...] NODE node-id "
         "[SLOTSRANGE start-slot end-slot [start-slot end-slot ...] NODE node-id ...]",
         "Moves slots with their keys to other nodes, in the background.", "O(N) for N slots"}),
    Subcommand("cluster|myid", InCluster<MyId>, 2, kQuery, "3.0.0",
               {"", "Returns the name of this node."}),
    Subcommand("cluster|myshardid", InCluster<MyShardId>, 2, kQuery, "7.2.0",
               {"", "Returns the name of this node's shard.", kConstant, kVaries}),
    Subcommand("cluster|nodes", InCluster<ClusterNodes>, 2, kQuery, "3.0.0",
               {"", "Returns the nodes and their slots, as in nodes.conf.", kPerNode, kVaries}),
    Subcommand("cluster|replicas", InCluster<ClusterReplicas>, 3, kAdminQuery, "5.0.0",
               {"node-id", "Returns the replicas of a master.", kPerNode, kVaries}),
    Subcommand("cluster|replicate", InCluster<Replicate>, 3, kChange, "3.0.0",
               {"node-id", "Makes this node a replica of a master.", kPerSlot}),
    Subcommand("cluster|reset", InCluster<ResetNode>, -2, kAdminQuery | kNoScript, "3.0.0",
               {"[HARD|SOFT]", "Makes this node forget the other nodes and the slots.", kPerSlot}),
    Subcommand("cluster|saveconfig", InCluster<SaveConfig>, 2, kChange, "3.0.0",
               {"", "Writes nodes.conf.", kPerSlot}),
    Subcommand("cluster|set-config-epoch", InCluster<SetConfigEpoch>, 3, kChange, "3.0.0",
               {"config-epoch", "Sets the epoch of a new node.", kPerSlot}),
    Subcommand("cluster|setslot", InCluster<SetSlot>, -4, kChange, "3.0.0",
               {"slot <IMPORTING node-id|MIGRATING node-id|NODE node-id|STABLE>",
                "Assigns a slot to a node, or marks it as moving.",
                "O(1). A new owner with a new epoch costs a sync of nodes.conf to disk"}),
    Subcommand("cluster|shards", InCluster<ClusterShards>, 2, kQuery, "7.0.0",
               {"", "Returns the shards with their nodes and slots.", kPerNode, kVaries}),
    Subcommand("cluster|slaves", InCluster<ClusterReplicas>, 3, kAdminQuery, "3.0.0",
               {"node-id", "Returns the replicas of a master.", kPerNode, kVaries}),
    Subcommand(
        "cluster|slot-stats", InCluster<SlotStatistics>, -4, kQuery, "8.2.0",
        {"<SLOTSRANGE start-slot end-slot|ORDERBY metric [LIMIT limit] [ASC|DESC]>",
         "Returns the load of slots of this shard.",
         "O(N log(N)) for N slots; with cluster-slot-stats-enabled also O(K) for their K keys",
         kVaries}),
    Subcommand("cluster|slots", InCluster<ClusterSlots>, 2, kQuery, "3.0.0",
               {"", "Returns the ranges of slots with their nodes.", kPerNode, kVaries}),
    Subcommand("cluster|syncslots", InCluster<SyncSlots>, -3, kChange | kNoScript, kZsetdOnly,
               {"argument [argument ...]", "For the nodes that move slots; not for clients.",
                "O(N) for N slots and their keys, and a sync of nodes.conf to disk"}),
};

}  // namespace

std::span<const Command> ClusterCommands() { return kClusterCommands; }

}  // namespace zsetd
