#pragma once

#include <limits>
#include <string>
#include <vector>

#include "server/engine/services/cluster_control.h"
#include "server/engine/services/log_control.h"
#include "server/engine/services/master_control.h"
#include "server/engine/services/migration.h"
#include "server/engine/services/network_control.h"
#include "server/engine/services/replica_registry.h"
#include "server/engine/services/scripting.h"
#include "server/engine/services/slot_migration_control.h"
#include "server/engine/services/snapshot_control.h"

namespace zsetd {

// The defaults of an engine without the service. They do nothing, and return the error of the
// commands that need the service.

class NoScripting : public Scripting {
 public:
  absl::Status Available() const override;
  std::optional<ScriptDeclaration> DeclarationOfScript(std::string_view) const override {
    return std::nullopt;
  }
  std::optional<ScriptDeclaration> DeclarationOfSha(std::string_view) const override {
    return std::nullopt;
  }
  std::optional<ScriptDeclaration> DeclarationOfFunction(std::string_view) const override {
    return std::nullopt;
  }
  void Eval(Call& call, std::string_view body, const ScriptArguments& arguments) override;
  void EvalSha(Call& call, std::string_view sha, const ScriptArguments& arguments) override;
  absl::StatusOr<std::string> LoadScript(std::string_view) override { return Available(); }
  bool HasScript(std::string_view) const override { return false; }
  void FlushScripts() override {}
  void CallFunction(Call& call, std::string_view name, const ScriptArguments& arguments) override;
  bool HasFunction(std::string_view) const override { return false; }
  absl::StatusOr<std::string> LoadLibrary(std::string_view, bool) override { return Available(); }
  absl::Status DeleteLibrary(std::string_view) override { return Available(); }
  void FlushLibraries() override {}
  std::vector<LibraryDescription> Libraries() const override { return {}; }
  std::string DumpLibraries() const override { return {}; }
  absl::Status RestoreLibraries(std::string_view, RestorePolicy) override { return Available(); }
  std::optional<RunningScript> Running() const override { return std::nullopt; }
  absl::Status Kill(bool) override { return Available(); }
  void Continue(Call& call) override;
  ScriptUsage Usage() const override { return {}; }
  void ResetStats() override {}
};

class NoSnapshots : public SnapshotControl {
 public:
  std::optional<LoadingStatus> loading() const override { return std::nullopt; }
  SnapshotStatus snapshot_status() const override { return {}; }
  void ResetStats() override {}
  absl::Status Save() override;
  bool IsSaving() const override { return false; }
  absl::Status StartSaving() override { return Save(); }
  void ScheduleSaving() override {}
  absl::Status SaveBeforeExit(bool, bool) override { return absl::OkStatus(); }
  void OnFlushAll() override {}
  void SaveFlushed() override {}
  absl::Status LoadAgain(const ReloadOptions&) override { return Save(); }
};

// All positions are released, so no reply waits.
class NoAppendLog : public LogControl {
 public:
  LogStatus log_status() const override { return {}; }
  void ResetStats() override {}
  bool IsRewriting() const override { return false; }
  absl::Status StartRewriting() override { return LoadLogAgain(); }
  void ScheduleRewriting() override {}
  uint64_t WrittenPosition() const override { return 0; }
  uint64_t DurablePosition() const override { return 0; }
  uint64_t ReleasedPosition() const override { return std::numeric_limits<uint64_t>::max(); }
  bool MayBeLost(uint64_t) const override { return false; }
  absl::Status Apply(const Settings&) override { return absl::OkStatus(); }
  absl::Status LoadLogAgain() override;
};

class NoMaster : public MasterControl {
 public:
  absl::Status Follow(std::string, int64_t, std::string_view) override;
  void Promote(std::string_view) override {}
  MasterLinkStatus master_link() const override { return {}; }
  void CloseMasterLink() override {}
  std::string_view failover_state() const override { return "no-failover"; }
  absl::Status StartFailover(const FailoverRequest&) override;
  absl::Status AbortFailover() override;
};

class NoReplicas : public ReplicaRegistry {
 public:
  ReplicaOptions& OptionsOf(Client&) override { return ignored_ = ReplicaOptions(); }
  absl::Status Synchronize(Client&, const StreamPosition&) override;
  absl::Status SynchronizeByOldProtocol(Client&) override;
  void Acknowledge(Client&, int64_t, std::optional<int64_t>) override {}
  void AskForAcknowledgements() override {}
  int64_t CountAcknowledged(int64_t) const override { return 0; }
  int64_t CountLogged(int64_t) const override { return 0; }
  int64_t last_change() const override { return 0; }
  ReplicaProgress ProgressTo(int64_t) const override { return {}; }
  std::vector<ReplicaStatus> replicas() const override { return {}; }
  StreamStatus stream() const override { return {}; }
  void ResetStats() override {}

 private:
  ReplicaOptions ignored_;
};

class NoMigration : public Migration {
 public:
  absl::Status Send(const Target&, size_t, const Pack&, std::vector<size_t>&) override;
  size_t cached_connections() const override { return 0; }
};

class NoNetwork : public NetworkControl {
 public:
  absl::Status Apply(const Settings&) override { return absl::OkStatus(); }
  void AskToStop() override {}
  NetworkStatus network_status() const override { return {}; }
  void ResetStats() override {}
};

// A server that is no node of a cluster. The commands of clusters refuse before they call it.
class NoCluster : public ClusterControl {
 public:
  SlotState StateOf(size_t) const override { return {.owner = Owner::kSelf}; }
  bool ServesPlainly(size_t) const override { return true; }
  bool IsUp() const override { return true; }
  std::string OwnerAddress(size_t, bool) const override { return {}; }
  std::string TargetAddress(size_t, bool) const override { return {}; }
  bool IsReplica() const override { return false; }
  std::string Id() const override { return {}; }
  std::string ShardId() const override { return {}; }
  ClusterSummary Summary() const override { return {}; }
  std::vector<ClusterNodeView> Nodes() const override { return {}; }
  std::string NodesText(bool) const override { return {}; }
  absl::StatusOr<std::vector<std::string>> ReplicaLines(std::string_view, bool) const override;
  ClusterBusStatus BusStatus() const override { return {}; }
  size_t CountedConnections() const override { return 0; }
  std::vector<ClusterLinkView> Links() const override { return {}; }
  absl::StatusOr<size_t> CountFailureReports(std::string_view) const override;
  void Publish(std::string_view, std::string_view, bool) override {}
  absl::Status CheckSlots(std::span<const SlotRange>, bool) const override {
    return absl::OkStatus();
  }
  absl::Status AddSlots(std::span<const SlotRange>) override;
  absl::Status DeleteSlots(std::span<const SlotRange>) override;
  absl::Status FlushSlots() override;
  absl::Status StartMigrating(size_t, std::string_view) override;
  absl::Status StartImporting(size_t, std::string_view) override;
  absl::Status EndMove(size_t) override;
  absl::Status AssignSlot(size_t, std::string_view) override;
  absl::StatusOr<uint64_t> BumpEpoch(bool&) override;
  absl::Status SetConfigEpoch(int64_t) override;
  absl::Status Meet(std::string_view, int64_t, int64_t) override;
  absl::Status FailOver(ClusterFailover) override;
  absl::Status Forget(std::string_view) override;
  absl::Status Replicate(std::string_view) override;
  absl::Status Reset(bool) override;
  absl::Status Save() override;
  void ApplySettings() override {}
};

class NoSlotMigrations : public SlotMigrationControl {
 public:
  absl::Status CheckState() const override;
  absl::Status CheckOwner(std::span<const SlotRange>) const override;
  absl::Status CheckNoneRuns() const override { return absl::OkStatus(); }
  absl::Status Start(std::span<const SlotMigrationRequest>) override;
  absl::Status Cancel() override;
  std::vector<SlotMigrationView> Migrations() const override { return {}; }
  absl::Status StartImport(Client&, const SlotImportRequest&) override;
  absl::Status NotePause(Client&) override;
  absl::Status FinishImport(Client&, Millis, uint64_t) override;
  absl::Status NoteSlotsToClear(std::span<const SlotRange>) override;
};

}  // namespace zsetd
