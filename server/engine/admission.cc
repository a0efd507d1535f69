#include "server/engine/admission.h"

#include <algorithm>
#include <optional>

#include "server/engine/engine.h"
#include "server/engine/request/request_checks.h"
#include "server/engine/services/scripting.h"
#include "server/engine/services/snapshot_control.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr std::string_view kLoadingError = "LOADING Redis is loading the dataset in memory";

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
  if (settings.maxmemory > 0 && LacksMemoryFor(client, *command, argv)) {
    return Refusal(kOutOfMemory);
  }
  status = CheckMode(client, *command, argv);
  return status.ok() ? CheckContext(client, *command) : status;
}

// The refusals that come from the state of the server.
absl::Status Admission::CheckMode(const Client& client, const Command& command, Args argv) const {
  const DiskState& disk = engine_.disk();
  if (disk.ForbidsWrites()) [[unlikely]] {
    const bool keeps = command.Has(kFailsUnsaved);
    if (keeps || Involves(client, command, argv, kWrite)) return disk.Error();
  }
  if (engine_.replication().Restricts()) [[unlikely]] {
    const absl::Status status = CheckRole(client, command, argv);
    if (!status.ok()) return status;
  }
  if (disk.loading() && Lacks(client, command, argv, kLoading)) [[unlikely]] {
    return Refusal(kLoadingError);
  }
  if (Involves(client, command, argv, kNoAsyncLoading) && IsLoadingBeside()) [[unlikely]] {
    return Refusal(kLoadingError);
  }
  if (engine_.suspended_unit().IsOn() && !command.Has(kAllowBusy)) [[unlikely]] {
    return Refusal(engine_.suspended_unit().BusyError());
  }
  return absl::OkStatus();
}

// The refusals of a replica, and of a master that lacks replicas.
absl::Status Admission::CheckRole(const Client& client, const Command& command, Args argv) const {
  const ReplicationState& replication = engine_.replication();
  absl::Status status;
  if (Involves(client, command, argv, kWrite)) status = replication.CheckWrite();
  return status.ok() && Lacks(client, command, argv, kStale) ? replication.CheckStale() : status;
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

// Whether requests are served from the old data while the master's data is loaded.
bool Admission::IsLoadingBeside() const {
  const std::optional<LoadingStatus> loading = engine_.services().snapshots->loading();
  return loading && loading->is_beside;
}

// While clients are paused, a script is suspended, or data is loaded, no key is evicted; nor on a
// replica.
void Admission::MakeRoom() {
  const ReplicationState& replication = engine_.replication();
  const bool is_loading =
      engine_.disk().loading() || (replication.is_replica() && IsLoadingBeside());
  const bool may_not = engine_.clients().IsPaused() || engine_.suspended_unit().IsOn() ||
                       is_loading || replication.LeavesEvictionToMaster();
  if (may_not) return engine_.store().PostponeEviction();
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
  if (engine_.disk().loading() || engine_.suspended_unit().IsOn()) return false;
  if (engine_.replication().LeavesEvictionToMaster()) return false;
  Store& store = engine_.store();
  if (!engine_.clients().IsPaused()) {
    MakeRoom();
    return store.LacksMemory() && MayTakeMemory(client, command, FlagsOf(command, argv), argv);
  }
  const auto limit = static_cast<size_t>(engine_.settings().maxmemory);
  return store.gauge().Used() > limit && MayKeepMore(client, command, argv);
}

}  // namespace zsetd
