// WAIT, WAITAOF, ROLE, REPLICAOF: a server that has no replicas and is none, but may have a log.
#include <cstdint>
#include <limits>
#include <string_view>

#include "protocol/text/number_text.h"
#include "server/commands/all_commands.h"
#include "server/commands/common/timeout_option.h"
#include "server/engine/admin_call.h"
#include "server/engine/services.h"
#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// There will be none, however long that is.
void Await(AdminCall& call, int64_t replicas, Millis timeout, void (*reply)(ReplyWriter&)) {
  if (replicas > 0 && call.WaitInVain(timeout, reply)) return;
  reply(call.reply);
}

// How many logs have all that the client has written: of this server, and of replicas.
template <int own>
void ReplyLogs(ReplyWriter& reply) {
  reply.Array(2);
  reply.Integer(own);
  reply.Integer(0);
}

void Wait(AdminCall& call) {
  const int64_t replicas = call.args.Integer();
  const Millis timeout = TakeTimeoutMillis(call.args, call.now());
  if (call.Refused()) return;
  Await(call, replicas, timeout, [](ReplyWriter& reply) { reply.Integer(0); });
}

void WaitAof(AdminCall& call) {
  constexpr std::string_view kOutOfRange = "ERR value is out of range, value must between 0 and 1";
  const int64_t own_logs = call.args.IntegerIn(0, 1, kOutOfRange);
  const int64_t replicas = call.args.IntegerIn(0, kMost, kMustBePositive);
  const Millis timeout = TakeTimeoutMillis(call.args, call.now());
  const Persistence* persistence = call.engine.services().persistence;
  const bool has_log = persistence != nullptr && persistence->log_status().enabled;
  if (own_logs > 0 && !has_log) {
    call.args.Refuse("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.");
  }
  if (call.Refused()) return;
  const bool is_durable =
      has_log && persistence->DurablePosition() >= call.client.output.propagated_until;
  const auto reply = is_durable ? ReplyLogs<1> : ReplyLogs<0>;
  if (replicas > 0 || own_logs == 0 || is_durable) return Await(call, replicas, timeout, reply);
  if (!call.WaitInVain(timeout, reply, ReplyLogs<1>)) reply(call.reply);
}

void Role(AdminCall& call) {
  call.reply.Array(3);
  call.reply.Bulk("master");
  call.reply.Integer(0);  // how far replicas would have to read
  call.reply.Array(0);
}

void ReplicaOf(AdminCall& call) {
  const std::string_view host = call.args.Word();
  const std::string_view port = call.args.Word();
  const bool is_none = EqualsIgnoringCase(host, "no") && EqualsIgnoringCase(port, "one");
  if (is_none) return call.reply.Ok();
  const auto number = ParseInteger(port);
  const bool is_port = number && *number >= 0 && *number <= 65535;
  call.Fail(is_port ? "ERR replication is not supported: only REPLICAOF NO ONE is accepted"
                    : "ERR Invalid master port");
}

constexpr uint32_t kReplicaFlags = kAdmin | kNoScript | kStale | kNoAsyncLoading;

constexpr Command kCommands[] = {
    {.name = "wait",
     .run = Wait,
     .arity = 3,
     .flags = kBlocking,
     .group = CommandGroup::kGeneric,
     .since = "3.0.0",
     .usage = "numreplicas timeout",
     .summary =
         "Blocks until replicas acknowledge earlier writes; with no replicas, until the timeout.",
     .cost = "O(1)",
     .tips = "request_policy:all_shards response_policy:agg_min",
     .categories = "@connection"},
    {.name = "waitaof",
     .run = WaitAof,
     .arity = 4,
     .flags = kBlocking,
     .group = CommandGroup::kGeneric,
     .since = "7.2.0",
     .usage = "numlocal numreplicas timeout",
     .summary =
         "Blocks until earlier writes are on disk; with no log and no replicas, until the timeout.",
     .cost = "O(1)",
     .tips = "request_policy:all_shards response_policy:agg_min",
     .categories = "@connection"},
    {.name = "role",
     .run = Role,
     .arity = 1,
     .flags = kNoScript | kLoading | kStale | kFast | kDangerous,
     .group = CommandGroup::kServer,
     .since = "2.8.12",
     .summary = "Returns the replication role (always master, no replicas).",
     .cost = "O(1)",
     .categories = "@admin"},
    {.name = "replicaof",
     .run = ReplicaOf,
     .arity = 3,
     .flags = kReplicaFlags,
     .group = CommandGroup::kServer,
     .since = "5.0.0",
     .usage = "host port",
     .summary = "Accepts only NO ONE: replication is not supported.",
     .cost = "O(1)"},
    {.name = "slaveof",
     .run = ReplicaOf,
     .arity = 3,
     .flags = kReplicaFlags,
     .group = CommandGroup::kServer,
     .since = "1.0.0",
     .usage = "host port",
     .summary = "Deprecated alias of REPLICAOF.",
     .cost = "O(1)"},
};

}  // namespace

std::span<const Command> ReplicationCommands() { return kCommands; }

}  // namespace zsetd
