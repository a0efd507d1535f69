// Commands of masters and replicas: roles, offsets, and the commands that they exchange.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "protocol/text/number_text.h"
#include "server/commands/admin/families.h"
#include "server/commands/common/timeout_option.h"
#include "server/engine/acl/client_description.h"
#include "server/engine/admin_call.h"
#include "server/engine/client/acknowledgement_wait.h"
#include "server/engine/services/log_control.h"
#include "server/engine/services/master_control.h"
#include "server/engine/services/replica_registry.h"
#include "server/engine/services/services.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/port_limit.h"
#include "server/engine/support/split.h"

namespace zsetd {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kMostPauseMillis = int64_t{1000} * 60 * 60 * 24 * 365;
constexpr std::string_view kNotZeroOrOne = "ERR value is out of range, value must between 0 and 1";

constexpr std::string_view kFailingOver = "NOMASTERLINK Can't SYNC while failing over";

// Replies the number of replicas.
class ReplicaWait : public AcknowledgementWait {
 public:
  using AcknowledgementWait::AcknowledgementWait;

 private:
  void Reply(ReplyWriter& reply, const Acknowledgements& reached) const override {
    reply.Integer(reached.replicas);
  }
};

// Replies the numbers of own logs and of logs of replicas.
class LogWait : public AcknowledgementWait {
 public:
  using AcknowledgementWait::AcknowledgementWait;

 private:
  void Reply(ReplyWriter& reply, const Acknowledgements& reached) const override {
    reply.Array(2);
    reply.Integer(reached.own_logs);
    reply.Integer(reached.replica_logs);
  }
};

template <class T>
void Await(AdminCall& call, const Acknowledgements& wanted, Millis timeout) {
  std::unique_ptr<AcknowledgementWait> wait =
      std::make_unique<T>(call.caller, call.engine.services(), wanted);
  const bool waits = !wait->IsAcknowledged() && call.WaitForAcknowledgements(wait, timeout);
  if (!waits) wait->GiveUp(call.reply);
}

void WaitForReplicas(AdminCall& call) {
  const int64_t replicas = call.args.Integer();
  const Millis timeout = TakeTimeoutMillis(call.args, call.now());
  if (call.engine.replication().is_replica()) {
    return call.Fail(
        "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if "
        "a replica is configured to be writable (which is not the default) writes to replicas are "
        "just local and are not propagated.");
  }
  if (call.Refused()) return;
  Await<ReplicaWait>(call, {.replicas = replicas}, timeout);
}

void WaitForLogs(AdminCall& call) {
  const int64_t own_logs = call.args.IntegerIn(0, 1, kNotZeroOrOne);
  const int64_t replicas = call.args.IntegerIn(0, kMost, kMustBePositive);
  const Millis timeout = TakeTimeoutMillis(call.args, call.now());
  const bool has_log = call.engine.services().append_log->log_status().enabled;
  if (call.Refused()) return;
  if (call.engine.replication().is_replica()) {
    return call.Fail(
        "ERR WAITAOF cannot be used with replica instances. Please also note that writes to "
        "replicas are just local and are not propagated.");
  }
  if (own_logs > 0 && !has_log) return call.Fail(kWaitLacksLog);
  Await<LogWait>(call, {.own_logs = own_logs, .replica_logs = replicas}, timeout);
}

void ReplyReplicaRole(AdminCall& call, const MasterLinkStatus& link) {
  const MasterAddress master = MasterIn(call.engine.settings()).value_or(MasterAddress());
  const bool is_up = call.engine.replication().link_up();
  call.reply.Array(5);
  call.reply.Bulk("slave");
  call.reply.Bulk(master.host);
  call.reply.Integer(master.port);
  call.reply.Bulk(link.state);
  call.reply.Integer(is_up ? call.engine.replication().offset() : -1);
}

void Role(AdminCall& call) {
  const Services& services = call.engine.services();
  const ReplicationState& state = call.engine.replication();
  if (state.is_replica()) return ReplyReplicaRole(call, services.master->master_link());
  std::vector<ReplicaStatus> replicas = services.replicas->replicas();
  std::erase_if(replicas, [](const ReplicaStatus& replica) { return !replica.is_online; });
  call.reply.Array(3);
  call.reply.Bulk("master");
  call.reply.Integer(state.offset());
  call.reply.Array(replicas.size());
  for (const ReplicaStatus& replica : replicas) {
    call.reply.Array(3);
    call.reply.Bulk(replica.address);
    call.reply.Bulk(IntegerText(replica.port));
    call.reply.Bulk(IntegerText(replica.offset));
  }
}

bool IsFailingOver(const AdminCall& call) {
  return call.engine.services().master->failover_state() != "no-failover";
}

// Returns a text for the log, such as "user request from 'id=3 addr=...'".
std::string RequestOf(AdminCall& call, std::string_view kind) {
  std::string line = ClientLine(call.client(), call.now());
  line.pop_back();
  return std::string(kind) + " request from '" + line + "'";
}

// Refuses hosts that CONFIG REWRITE cannot write as one word of a line.
bool IsMasterHost(std::string_view host) {
  const auto is_separator = [](char byte) {
    return absl::ascii_isspace(byte) || absl::ascii_iscntrl(byte);
  };
  return !host.empty() && std::ranges::none_of(host, is_separator);
}

void ReplicaOf(AdminCall& call) {
  if (call.engine.settings().cluster_enabled) {
    return call.Fail("ERR REPLICAOF not allowed in cluster mode.");
  }
  const std::string_view host = call.args.Word();
  const std::string_view port = call.args.Word();
  MasterControl& control = *call.engine.services().master;
  if (call.Refused()) return;
  if (IsFailingOver(call)) return call.Fail("ERR REPLICAOF not allowed while failing over.");
  if (EqualsIgnoringCase(host, "no") && EqualsIgnoringCase(port, "one")) {
    if (call.engine.replication().is_replica()) control.Promote(RequestOf(call, "user"));
    return call.reply.Ok();
  }
  if (call.client().IsReplica()) {
    return call.Fail("ERR Command is not valid when client is a replica.");
  }
  const auto number = ParseInteger(port);
  if (!number || *number < 0 || *number > kMaxPort) return call.Fail("ERR Invalid master port");
  if (!IsMasterHost(host)) return call.Fail("ERR Invalid master host");
  const auto master = MasterIn(call.engine.settings());
  if (master && EqualsIgnoringCase(master->host, host) && master->port == *number) {
    return call.reply.Simple("OK Already connected to specified master");
  }
  const absl::Status status = control.Follow(std::string(host), *number, RequestOf(call, "user"));
  if (!status.ok()) return call.Fail(status);
  call.reply.Ok();
}

// Makes the client a replica. Its only reply is the stream. As in Redis, other words after the
// offset have no effect.
void Psync(AdminCall& call) {
  const std::string_view id = call.args.Word();
  const int64_t offset = call.args.Integer();
  const bool takes_over = call.args.Take("failover");
  if (call.Refused() || call.client().IsReplica()) return;
  const ReplicationState& state = call.engine.replication();
  if (IsFailingOver(call)) return call.Fail(kFailingOver);
  if (takes_over) {
    if (!state.is_replica()) {
      return call.Fail("ERR PSYNC FAILOVER can't be sent to a master.");
    }
    if (!EqualsIgnoringCase(id, state.id())) {
      return call.Fail("ERR PSYNC FAILOVER replid must match my replid.");
    }
    call.engine.services().master->Promote(RequestOf(call, "failover"));
  }
  const absl::Status status =
      call.engine.services().replicas->Synchronize(call.client(), {id, offset});
  if (!status.ok()) call.Fail(status);
}

void Sync(AdminCall& call) {
  if (call.Refused() || call.client().IsReplica()) return;
  if (IsFailingOver(call)) return call.Fail(kFailingOver);
  const absl::Status status =
      call.engine.services().replicas->SynchronizeByOldProtocol(call.client());
  if (!status.ok()) call.Fail(status);
}

// Reads a list of the requested parts of the snapshot, such as "functions data".
void TakeFilter(ArgReader& args, ReplicaOptions& options) {
  options.leaves_out_data = true;
  options.leaves_out_functions = true;
  for (const std::string_view part : Split(args.Word(), ' ')) {
    if (EqualsIgnoringCase(part, "functions")) {
      options.leaves_out_functions = false;
    } else if (!part.empty()) {
      args.Refuse("ERR Unsupported rdb-filter-only option: " + std::string(part));
    }
  }
}

// Refuses an address that would add fields or lines to INFO, which Sentinel reads.
void TakeAddress(ArgReader& args, ReplicaOptions& options) {
  constexpr size_t kMostBytes = 255;
  const std::string_view address = args.Word();
  const auto is_allowed = [](char byte) { return absl::ascii_isgraph(byte) && byte != ','; };
  if (address.size() > kMostBytes) {
    args.Refuse("ERR REPLCONF ip-address provided by replica instance is too long: " +
                std::to_string(address.size()) + " bytes");
  } else if (!std::ranges::all_of(address, is_allowed)) {
    args.Refuse("ERR REPLCONF ip-address contains invalid characters");
  } else {
    options.address = address;
  }
}

void TakeCapability(ArgReader& args, ReplicaOptions& options) {
  const std::string_view capability = args.Word();
  if (EqualsIgnoringCase(capability, "eof")) options.takes_eof = true;
  if (EqualsIgnoringCase(capability, "psync2")) options.takes_psync2 = true;
}

void Acknowledge(AdminCall& call, ReplicaRegistry& replicas) {
  const int64_t offset = call.args.Integer();
  std::optional<int64_t> log_offset;
  if (call.args.Take("fack")) log_offset = call.args.Integer();
  if (call.args.ok() && call.client().IsReplica()) {
    replicas.Acknowledge(call.client(), offset, log_offset);
  }
}

// ACK and GETACK have no reply, and no option follows them. A master sends GETACK in its stream, so
// GETACK from a client has no effect.
void ReplConf(AdminCall& call) {
  ReplicaRegistry& replicas = *call.engine.services().replicas;
  if (call.argv().size() % 2 == 0) call.args.Refuse(kSyntaxError);
  if (call.Refused()) return;
  ReplicaOptions& options = replicas.OptionsOf(call.client());
  while (call.args.ok() && !call.args.AtEnd()) {
    if (call.args.Take("ack")) return Acknowledge(call, replicas);
    if (call.args.Take("getack")) return;
    if (call.args.Take("listening-port")) {
      options.port = call.args.Integer();
    } else if (call.args.Take("ip-address")) {
      TakeAddress(call.args, options);
    } else if (call.args.Take("capa")) {
      TakeCapability(call.args, options);
    } else if (call.args.Take("rdb-only")) {
      options.only_snapshot = call.args.IntegerIn(0, 1, kNotZeroOrOne) != 0;
    } else if (call.args.Take("rdb-filter-only")) {
      TakeFilter(call.args, options);
    } else if (call.args.Take("version")) {
      call.args.Word();
    } else {
      call.args.Refuse("ERR Unrecognized REPLCONF option: " + std::string(call.args.Word()));
    }
  }
  if (!call.Refused()) call.reply.Ok();
}

// The options may have any order. Each is allowed once.
FailoverRequest TakeFailover(ArgReader& args) {
  FailoverRequest request;
  bool has_target = false;
  while (args.ok() && !args.AtEnd()) {
    if (args.left() >= 3 && !has_target && args.Take("to")) {
      has_target = true;
      request.host = args.Word();
      request.port = args.Integer();
    } else if (args.left() >= 2 && request.timeout == Millis(0) && args.Take("timeout")) {
      const int64_t timeout = args.Integer();
      if (timeout <= 0) args.Refuse("ERR FAILOVER timeout must be greater than 0");
      request.timeout = Millis(std::min(timeout, kMostPauseMillis));
    } else if (!request.forces && args.Take("force")) {
      request.forces = true;
    } else {
      args.Refuse(kSyntaxError);
    }
  }
  return request;
}

void Failover(AdminCall& call) {
  if (call.engine.settings().cluster_enabled) {
    return call.Fail(
        "ERR FAILOVER not allowed in cluster mode. Use CLUSTER FAILOVER command instead.");
  }
  const bool aborts = call.argv().size() == 2 && call.args.Take("abort");
  const FailoverRequest request = TakeFailover(call.args);
  MasterControl& control = *call.engine.services().master;
  if (call.Refused()) return;
  const absl::Status status = aborts ? control.AbortFailover() : control.StartFailover(request);
  if (!status.ok()) return call.Fail(status);
  call.reply.Ok();
}

constexpr uint32_t kReplicaFlags = kAdmin | kNoScript | kStale | kNoAsyncLoading;
constexpr uint32_t kSyncFlags = kAdmin | kNoScript | kNoAsyncLoading | kNoMulti;

constexpr Command kReplicationCommands[] = {
    {.name = "wait",
     .run = WaitForReplicas,
     .arity = 3,
     .flags = kBlocking,
     .group = CommandGroup::kGeneric,
     .since = "3.0.0",
     .usage = "numreplicas timeout",
     .summary = "Blocks until replicas acknowledge earlier writes, or until the timeout.",
     .cost = "O(1)",
     .tips = "request_policy:all_shards response_policy:agg_min",
     .categories = "@connection"},
    {.name = "waitaof",
     .run = WaitForLogs,
     .arity = 4,
     .flags = kBlocking,
     .group = CommandGroup::kGeneric,
     .since = "7.2.0",
     .usage = "numlocal numreplicas timeout",
     .summary =
         "Blocks until earlier writes are on disk here and on replicas, or until the timeout.",
     .cost = "O(1)",
     .tips = "request_policy:all_shards response_policy:agg_min",
     .categories = "@connection"},
    {.name = "role",
     .run = Role,
     .arity = 1,
     .flags = kNoScript | kLoading | kStale | kFast | kDangerous,
     .inspects = true,
     .group = CommandGroup::kServer,
     .since = "2.8.12",
     .summary = "Returns the replication role, with the replicas or the state of the link.",
     .cost = "O(1)",
     .categories = "@admin"},
    {.name = "replicaof",
     .run = ReplicaOf,
     .arity = 3,
     .flags = kReplicaFlags,
     .group = CommandGroup::kServer,
     .since = "5.0.0",
     .usage = "host port",
     .summary = "Makes the server a replica of another server, or with NO ONE a master.",
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
    {.name = "psync",
     .run = Psync,
     .arity = -3,
     .flags = kSyncFlags,
     .group = CommandGroup::kServer,
     .since = "2.8.0",
     .usage = "replicationid offset",
     .summary = "Makes the client a replica; sent by servers."},
    {.name = "sync",
     .run = Sync,
     .arity = 1,
     .flags = kSyncFlags,
     .group = CommandGroup::kServer,
     .since = "1.0.0",
     .summary = "Makes the client a replica, with the protocol from before Redis 2.8."},
    {.name = "replconf",
     .run = ReplConf,
     .arity = -1,
     .flags = kAdmin | kNoScript | kLoading | kStale | kAllowBusy,
     .group = CommandGroup::kServer,
     .since = "3.0.0",
     .summary = "Reports the capabilities and the offset of a replica; sent by servers.",
     .cost = "O(1)"},
    {.name = "failover",
     .run = Failover,
     .arity = -1,
     .flags = kAdmin | kNoScript | kStale,
     .group = CommandGroup::kServer,
     .since = "6.2.0",
     .usage = "[TO host port [FORCE]] [ABORT] [TIMEOUT milliseconds]",
     .summary = "Exchanges roles with a replica that has received all changes; loses no write.",
     .cost = "O(1)"},
};

}  // namespace

std::span<const Command> ReplicationCommands() { return kReplicationCommands; }

}  // namespace zsetd
