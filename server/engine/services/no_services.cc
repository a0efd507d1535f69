#include "server/engine/services/no_services.h"

#include <cassert>

#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

absl::Status NoReplication() { return Refusal("ERR this server does not replicate"); }

absl::Status NoClusterMode() { return Refusal("ERR This instance has cluster support disabled"); }

}  // namespace

absl::Status NoScripting::Available() const {
  return Refusal("ERR Scripts are turned off in this server: its setting scripting is no");
}

void NoScripting::Eval(Call&, std::string_view, const ScriptArguments&) { assert(false); }

void NoScripting::EvalSha(Call&, std::string_view, const ScriptArguments&) { assert(false); }

void NoScripting::CallFunction(Call&, std::string_view, const ScriptArguments&) { assert(false); }

void NoScripting::Continue(Call&) { assert(false); }

absl::Status NoSnapshots::Save() { return Refusal("this engine has no snapshots"); }

absl::Status NoAppendLog::LoadLogAgain() { return Refusal("this engine has no append-only log"); }

absl::Status NoMaster::Follow(std::string, int64_t, std::string_view) { return NoReplication(); }

absl::Status NoMaster::StartFailover(const FailoverRequest&) { return NoReplication(); }

absl::Status NoMaster::AbortFailover() { return NoReplication(); }

absl::Status NoReplicas::Synchronize(Client&, const StreamPosition&) { return NoReplication(); }

absl::Status NoReplicas::SynchronizeByOldProtocol(Client&) { return NoReplication(); }

absl::Status NoMigration::Send(const Target&, size_t, const Pack&, std::vector<size_t>&) {
  return Refusal("IOERR error or timeout connecting to the client");
}

absl::StatusOr<std::vector<std::string>> NoCluster::ReplicaLines(std::string_view, bool) const {
  return NoClusterMode();
}

absl::StatusOr<size_t> NoCluster::CountFailureReports(std::string_view) const {
  return NoClusterMode();
}

absl::Status NoCluster::AddSlots(std::span<const SlotRange>) { return NoClusterMode(); }

absl::Status NoCluster::DeleteSlots(std::span<const SlotRange>) { return NoClusterMode(); }

absl::Status NoCluster::FlushSlots() { return NoClusterMode(); }

absl::Status NoCluster::StartMigrating(size_t, std::string_view) { return NoClusterMode(); }

absl::Status NoCluster::StartImporting(size_t, std::string_view) { return NoClusterMode(); }

absl::Status NoCluster::EndMove(size_t) { return NoClusterMode(); }

absl::Status NoCluster::AssignSlot(size_t, std::string_view) { return NoClusterMode(); }

absl::StatusOr<uint64_t> NoCluster::BumpEpoch(bool&) { return NoClusterMode(); }

absl::Status NoCluster::SetConfigEpoch(int64_t) { return NoClusterMode(); }

absl::Status NoCluster::Meet(std::string_view, int64_t, int64_t) { return NoClusterMode(); }

absl::Status NoCluster::FailOver(ClusterFailover) { return NoClusterMode(); }

absl::Status NoCluster::Forget(std::string_view) { return NoClusterMode(); }

absl::Status NoCluster::Replicate(std::string_view) { return NoClusterMode(); }

absl::Status NoCluster::Reset(bool) { return NoClusterMode(); }

absl::Status NoCluster::Save() { return NoClusterMode(); }

absl::Status NoSlotMigrations::CheckState() const { return NoClusterMode(); }

absl::Status NoSlotMigrations::CheckOwner(std::span<const SlotRange>) const {
  return NoClusterMode();
}

absl::Status NoSlotMigrations::Start(std::span<const SlotMigrationRequest>) {
  return NoClusterMode();
}

absl::Status NoSlotMigrations::Cancel() { return NoClusterMode(); }

absl::Status NoSlotMigrations::StartImport(Client&, const SlotImportRequest&) {
  return NoClusterMode();
}

absl::Status NoSlotMigrations::NotePause(Client&) { return NoClusterMode(); }

absl::Status NoSlotMigrations::FinishImport(Client&, Millis, uint64_t) { return NoClusterMode(); }

absl::Status NoSlotMigrations::NoteSlotsToClear(std::span<const SlotRange>) {
  return absl::OkStatus();
}

}  // namespace zsetd
