#include "server/engine/admission.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "server/engine/engine.h"
#include "server/engine/request/request_checks.h"
#include "server/engine/services/scripting.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr std::string_view kLoadingError = "LOADING Redis is loading the dataset in memory";

absl::Status CheckProtected(const Client& client, const Settings& settings,
                            const Command& command) {
  const bool is_module = command.Has(kNeedsModuleEnabled);
  const DangerousAccess allowed =
      is_module ? settings.enable_module_command : settings.enable_debug_command;
  if (MayDoProtected(client, allowed)) return absl::OkStatus();
  const std::string name = is_module ? "module" : "debug";
  return Refusal("ERR " + UpperCase(name) + " command not allowed. If the enable-" + name +
                 "-command option is set to \"local\", you can run it from a local connection, "
                 "otherwise you need to set this option in the configuration file, and then "
                 "restart the server.");
}

// Checks the name and the number of arguments.
absl::Status CheckShape(const Command* command, Args argv) {
  if (command == nullptr) return UnknownCommand(argv);
  if (command->run == nullptr && argv.size() > 1) return UnknownSubcommand(*command, argv);
  if (command->run == nullptr || !command->AcceptsCount(argv.size())) {
    return Refusal(WrongArity(command->name));
  }
  return absl::OkStatus();
}

bool UsesKeys(const Command& command) {
  return command.Has(kWrite) || command.Has(kReadOnly) || command.Has(kMayReplicate);
}

// Checks the request, except for the user's permissions.
absl::Status CheckRequest(const Client& client, const Settings& settings,
                          const AccessControl& access, const Command* command, Args argv) {
  if (absl::Status shape = CheckShape(command, argv); !shape.ok()) return shape;
  if (command->HasAny(kNeedsDebugEnabled | kNeedsModuleEnabled)) [[unlikely]] {
    const absl::Status allowed = CheckProtected(client, settings, *command);
    if (!allowed.ok()) return allowed;
  }
  if (access.MustAuthenticate(client) && !command->Has(kNoAuth)) {
    return Refusal("NOAUTH Authentication required.");
  }
  if (client.transaction.open && command->Has(kNoMulti)) {
    return Refusal("ERR Command not allowed inside a transaction");
  }
  return absl::OkStatus();
}

// Whether the client may run the command in its present state.
absl::Status CheckContext(const Client& client, const Command& command) {
  const bool only_listens = client.IsSubscriber() && client.reply.protocol() == Protocol::kResp2;
  if (only_listens && !command.Has(kAllowedWhileSubscribed)) {
    return Refusal("ERR Can't execute '" + std::string(command.name) +
                   "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in "
                   "this context");
  }
  if (client.monitors() && UsesKeys(command)) {
    return Refusal("ERR Replica can't interact with the keyspace");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Admission::Check(Client& client, const Command* command, Args argv) {
  const Settings& settings = engine_.settings();
  AccessControl& access = engine_.access();
  absl::Status status = CheckRequest(client, settings, access, command, argv);
  if (!status.ok()) return status;
  client.last_command = command->name;
  if (const auto denial = access.Check(client, *command, argv, engine_.store().now())) {
    return Refusal(DenialLine(*denial, *client.user(), *command));
  }
  SlotRouting& routing = engine_.routing();
  if (routing.IsOn() && !routing.ServesPlainly(client, *command, argv)) {
    status = routing.Check(client, *command, FlagsOf(*command, argv), argv);
    if (!status.ok()) return status;
  }
  if (settings.maxmemory > 0 && LacksMemoryFor(client, *command, argv)) {
    return Refusal(kOutOfMemory);
  }
  if (!IsStateNormal()) [[unlikely]] {
    status = CheckState(client, *command, argv);
    if (!status.ok()) return status;
  }
  return CheckContext(client, *command);
}

// The refusals that come from the state of the server, in Redis's order.
const std::array<Admission::StateCheck, 4> Admission::kStateChecks = {
    &Admission::CheckDisk,    // before the role: a replica's disk may fail, too
    &Admission::CheckRole,    // before loading: a replica that loads is a replica first
    &Admission::CheckLoaded,  // before busy: a script may be suspended while data is loaded
    &Admission::CheckBusy,
};

absl::Status Admission::CheckState(const Client& client, const Command& command, Args argv) const {
  for (const StateCheck check : kStateChecks) {
    absl::Status status = (this->*check)(client, command, argv);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Whether no check of the server's state can refuse anything.
bool Admission::IsStateNormal() const {
  return engine_.mode().IsNormal() && !engine_.disk().ForbidsWrites() &&
         !engine_.replication().Restricts();
}

absl::Status Admission::CheckDisk(const Client& client, const Command& command, Args argv) const {
  if (!engine_.disk().ForbidsWrites()) return absl::OkStatus();
  const bool keeps = command.Has(kFailsUnsaved) || Involves(client, command, argv, kWrite);
  return keeps ? engine_.disk().Error() : absl::OkStatus();
}

// The refusals of a replica, and of a master that lacks replicas.
absl::Status Admission::CheckRole(const Client& client, const Command& command, Args argv) const {
  const ReplicationState& replication = engine_.replication();
  if (!replication.Restricts()) return absl::OkStatus();
  absl::Status status;
  if (Involves(client, command, argv, kWrite)) status = replication.CheckWrite();
  return status.ok() && Lacks(client, command, argv, kStale) ? replication.CheckStale() : status;
}

absl::Status Admission::CheckLoaded(const Client& client, const Command& command, Args argv) const {
  const ServerMode& mode = engine_.mode();
  const bool lacks_data =
      (mode.is_loading() && Lacks(client, command, argv, kLoading)) ||
      (mode.is_loading_beside() && Involves(client, command, argv, kNoAsyncLoading));
  return lacks_data ? Refusal(kLoadingError) : absl::OkStatus();
}

absl::Status Admission::CheckBusy(const Client&, const Command& command, Args) const {
  if (engine_.mode().IsBetweenUnits() || command.Has(kAllowBusy)) return absl::OkStatus();
  return Refusal(engine_.suspended_unit().BusyError());
}

uint32_t Admission::FlagsOf(const Command& command, Args argv) const {
  if (command.request_flags == nullptr) [[likely]]
    return command.flags;
  return command.request_flags(command, argv, *engine_.services().scripting);
}

bool Admission::HasFlag(const Command& command, Args argv, CommandFlag flag) const {
  if ((flag & kDeclaredFlags) == 0) return command.Has(flag);
  return (FlagsOf(command, argv) & flag) != 0;
}

// Whether the request has the flag; or, if it runs a transaction, one of the queued requests.
bool Admission::Involves(const Client& client, const Command& command, Args argv,
                         CommandFlag flag) const {
  if (!command.Has(kRunsTransaction)) return HasFlag(command, argv, flag);
  return std::ranges::any_of(client.transaction.queue, [flag](const QueuedCommand& queued) {
    return (queued.flags & flag) != 0;
  });
}

// Whether the request lacks the flag; or, if it runs a transaction, one of the queued requests.
bool Admission::Lacks(const Client& client, const Command& command, Args argv,
                      CommandFlag flag) const {
  if (!HasFlag(command, argv, flag)) return true;
  if (!command.Has(kRunsTransaction)) return false;
  return !std::ranges::all_of(client.transaction.queue, [flag](const QueuedCommand& queued) {
    return (queued.flags & flag) != 0;
  });
}

void Admission::MakeRoom() {
  const bool may = engine_.mode().MayEvict(engine_.store().now()) &&
                   !engine_.replication().LeavesEvictionToMaster();
  if (!may) return engine_.store().PostponeEviction();
  engine_.store().MakeRoom();
}

// While clients are paused writes are held back rather than refused; but what the server keeps for
// clients is limited all the same.
//
// While memory suffices, this must stay negligible compared with the cheapest command. To count its
// instructions:
//
//   valgrind --tool=callgrind --callgrind-out-file=counts build/release/zsetd --maxmemory 100gb
//   redis-benchmark -n 48000 -r 1000 -P 16 -c 1 ZADD board __rand_int__ member:__rand_int__
//   callgrind_annotate --inclusive=yes counts | grep LacksMemoryFor
bool Admission::LacksMemoryFor(const Client& client, const Command& command, Args argv) {
  const ServerMode& mode = engine_.mode();
  if (!mode.HasWholeData()) return false;
  if (engine_.replication().LeavesEvictionToMaster()) return false;
  Store& store = engine_.store();
  if (!mode.IsPaused(store.now())) {
    MakeRoom();
    return store.LacksMemory() && MayTakeMemory(client, command, FlagsOf(command, argv), argv);
  }
  const auto limit = static_cast<size_t>(engine_.settings().maxmemory);
  return store.gauge().Used() > limit && MayKeepMore(client, command, argv);
}

}  // namespace zsetd
