// CLUSTER and other commands of cluster clients. Without cluster mode the replies are Redis's;
// clients conclude from them that no other nodes exist.
#include <string_view>

#include "server/commands/admin/families.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

void RefuseCluster(Call& call) { call.Fail("ERR This instance has cluster support disabled"); }

constexpr std::string_view kSummary = "Replies with an error: cluster mode is disabled.";
constexpr uint32_t kQuery = kStale;
constexpr uint32_t kAdminQuery = kAdmin | kStale;
constexpr uint32_t kChange = kAdmin | kStale | kNoAsyncLoading;

constexpr Command Subcommand(std::string_view name, int arity, uint32_t flags,
                             std::string_view since, std::string_view usage = {},
                             std::string_view tips = {}) {
  return {.name = name,
          .run = RefuseCluster,
          .arity = arity,
          .flags = flags,
          .group = CommandGroup::kCluster,
          .since = since,
          .usage = usage,
          .summary = kSummary,
          .cost = "O(1)",
          .tips = tips};
}

constexpr Command Whole(std::string_view name, uint32_t flags) {
  return {.name = name,
          .run = RefuseCluster,
          .arity = 1,
          .flags = flags,
          .group = CommandGroup::kCluster,
          .since = "3.0.0",
          .summary = kSummary,
          .cost = "O(1)"};
}

constexpr std::string_view kVaries = "nondeterministic_output";

constexpr Command kCommands[] = {
    Whole("asking", kFast | kConnectionCategory),
    {.name = "cluster",
     .arity = -2,
     .group = CommandGroup::kCluster,
     .since = "3.0.0",
     .summary = "A container for cluster commands.",
     .cost = "Depends on the subcommand"},
    Subcommand("cluster|addslots", -3, kChange, "3.0.0", "slot [slot ...]"),
    Subcommand("cluster|addslotsrange", -4, kChange, "7.0.0",
               "start-slot end-slot [start-slot end-slot ...]"),
    Subcommand("cluster|bumpepoch", 2, kChange, "3.0.0", "", kVaries),
    Subcommand("cluster|count-failure-reports", 3, kAdminQuery, "3.0.0", "node-id", kVaries),
    Subcommand("cluster|countkeysinslot", 3, kQuery, "3.0.0", "slot"),
    Subcommand("cluster|delslots", -3, kChange, "3.0.0", "slot [slot ...]"),
    Subcommand("cluster|delslotsrange", -4, kChange, "7.0.0",
               "start-slot end-slot [start-slot end-slot ...]"),
    Subcommand("cluster|failover", -2, kChange, "3.0.0", "[FORCE|TAKEOVER]"),
    Subcommand("cluster|flushslots", 2, kChange, "3.0.0"),
    Subcommand("cluster|forget", 3, kChange, "3.0.0", "node-id"),
    Subcommand("cluster|getkeysinslot", 4, kQuery, "3.0.0", "slot count", kVaries),
    Subcommand("cluster|help", 2, kLoading | kStale, "5.0.0"),
    Subcommand("cluster|info", 2, kQuery, "3.0.0", "", kVaries),
    Subcommand("cluster|keyslot", 3, kQuery, "3.0.0", "key"),
    Subcommand("cluster|links", 2, kQuery, "7.0.0", "", kVaries),
    Subcommand("cluster|meet", -4, kChange, "3.0.0", "ip port [cluster-bus-port]"),
    Subcommand("cluster|myid", 2, kQuery, "3.0.0"),
    Subcommand("cluster|myshardid", 2, kQuery, "7.2.0", "", kVaries),
    Subcommand("cluster|nodes", 2, kQuery, "3.0.0", "", kVaries),
    Subcommand("cluster|replicas", 3, kAdminQuery, "5.0.0", "node-id", kVaries),
    Subcommand("cluster|replicate", 3, kChange, "3.0.0", "node-id"),
    Subcommand("cluster|reset", -2, kAdminQuery | kNoScript, "3.0.0", "[HARD|SOFT]"),
    Subcommand("cluster|saveconfig", 2, kChange, "3.0.0"),
    Subcommand("cluster|set-config-epoch", 3, kChange, "3.0.0", "config-epoch"),
    Subcommand("cluster|setslot", -4, kChange, "3.0.0",
               "slot <IMPORTING node-id|MIGRATING node-id|NODE node-id|STABLE>"),
    Subcommand("cluster|shards", 2, kQuery, "7.0.0", "", kVaries),
    Subcommand("cluster|slaves", 3, kAdminQuery, "3.0.0", "node-id", kVaries),
    Subcommand("cluster|slots", 2, kQuery, "3.0.0", "", kVaries),
    Whole("readonly", kLoading | kStale | kFast | kConnectionCategory),
    Whole("readwrite", kLoading | kStale | kFast | kConnectionCategory),
};

}  // namespace

std::span<const Command> ClusterCommands() { return kCommands; }

}  // namespace zsetd
