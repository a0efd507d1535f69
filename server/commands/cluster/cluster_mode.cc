// ASKING, READONLY and READWRITE: how the requests of a client are routed.
#include <string_view>

#include "server/commands/cluster/families.h"
#include "server/commands/cluster/in_cluster.h"

namespace zsetd {
namespace {

void Asking(AdminCall& call) {
  call.caller.asking = true;
  call.reply.Ok();
}

void ReadOnly(AdminCall& call) {
  call.caller.read_only = true;
  call.reply.Ok();
}

void ReadWrite(AdminCall& call) {
  call.caller.read_only = false;
  call.reply.Ok();
}

constexpr Command Row(std::string_view name, CommandFunction run, uint32_t flags,
                      std::string_view summary) {
  return {.name = name,
          .run = run,
          .arity = 1,
          .flags = flags | kFast | kConnectionCategory,
          .group = CommandGroup::kCluster,
          .since = "3.0.0",
          .summary = summary,
          .cost = "O(1)"};
}

constexpr Command kClusterModeCommands[] = {
    Row("asking", InCluster<Asking>, 0,
        "Lets the next request use a slot that this node imports, after an ASK redirection."),
    Row("readonly", InCluster<ReadOnly>, kLoading | kStale,
        "Lets a replica serve the connection's reads."),
    Row("readwrite", InCluster<ReadWrite>, kLoading | kStale,
        "Ends READONLY: a replica redirects reads to its master."),
};

}  // namespace

std::span<const Command> ClusterModeCommands() { return kClusterModeCommands; }

}  // namespace zsetd
