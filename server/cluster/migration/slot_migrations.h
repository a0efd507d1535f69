#pragma once

#include <bitset>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/hashing/key_slot.h"
#include "protocol/resp/request_parser.h"
#include "server/cluster/migration/migration_host.h"
#include "server/cluster/migration/slot_export.h"
#include "server/engine/engine.h"
#include "server/engine/propagation/journal.h"
#include "server/engine/services/background_task.h"
#include "server/engine/services/slot_migration_control.h"
#include "server/engine/support/connector.h"

namespace zsetd {

// The migrations of slots from and to this node (CLUSTER MIGRATESLOTS). The source drives each one:
//
//   source                                                      target
//   CLUSTER SYNCSLOTS BEGIN SOURCE id NAME name SLOTSRANGE ... ──► the connection may use the slots
//   RESTORE of each key, effects of changes                   ──► ordinary requests: replicas and
//                                                                 the log receive them, too
//   pauses writes; awaits the replies to everything
//   CLUSTER SYNCSLOTS PAUSED                                  ──► notes the time, replies
//   CLUSTER SYNCSLOTS FINISH milliseconds-since-then epoch    ──► takes the slots, saves,
//   broadcasts gives the slots away, ends the pause, deletes the keys
//
// Clients use the source until the end. Then their requests, also those that wait for the end of
// the pause or for a key, receive MOVED. A migration that fails changes no owner; the target
// deletes the keys that it has received. If it fails after FINISH, the target may have saved the
// takeover. Then the source keeps the slots with a greater epoch than the one that it has granted,
// and does not serve them before (bus/slot_grants.h). Migrations pause writes one at a time. Both
// nodes note in nodes.conf which keys they have to delete, and in the stream for their replicas,
// one of which may be promoted. Clients do not see these keys.
class SlotMigrations : public SlotMigrationControl,
                       public BackgroundTask,
                       private Journal,
                       private SlotExport::Owner {
 public:
  // The arguments outlive this.
  SlotMigrations(Engine& engine, MigrationHost& host, Connector& connector);
  ~SlotMigrations() override;

  absl::Status CheckState() const override;
  absl::Status CheckOwner(std::span<const SlotRange> ranges) const override;
  absl::Status CheckNoneRuns() const override;
  absl::Status Start(std::span<const SlotMigrationRequest> requests) override;
  absl::Status Cancel() override;
  std::vector<SlotMigrationView> Migrations() const override;
  absl::Status StartImport(Client& source, const SlotImportRequest& request) override;
  absl::Status NotePause(Client& source) override;
  absl::Status FinishImport(Client& source, Millis within, uint64_t granted_epoch) override;
  absl::Status NoteSlotsToClear(std::span<const SlotRange> ranges) override;

  void Tick(Micros budget) override;
  bool HasWork() const override;
  void EndRound() override;
  void OnLeave(Client& client) override;

 private:
  // A migration to this node.
  struct Import {
    SlotMigrationView view;
    SlotSet slots;
    std::bitset<kSlotCount> served;  // the same, for SlotRouting
    Client* source;
    Millis last_active{0};            // of `source`, when it was last looked at
    Micros heard_at{0};               // when that changed, by the stopwatch
    std::optional<Micros> paused_at;  // when its source announced the pause, by the stopwatch
  };

  uint64_t Append(OutputBuffer& unit) override;
  void OnPause() override;
  bool MayPause() const override;
  void OnHandOver(const SlotExport& migration) override;
  void OnLostGrant() override;
  absl::StatusOr<uint64_t> OnGrant(const SlotExport& migration, Millis time) override;
  void OnGivenUpGrant(bool is_refused) override;

  void OnEffect(Args request);
  void OnFlush();
  absl::Status CheckRequest(const SlotMigrationRequest& request, const SlotSet& others) const;
  absl::Status CheckImport(const SlotImportRequest& request) const;
  bool EraseNow(const SlotSet& slots);
  Import* ImportOf(const Client& client);
  void NoteActivity(Import& import) const;
  std::optional<std::string_view> WhyImportFails(const Import& import) const;
  void FailImport(size_t number, std::string_view reason);
  void EndImport(size_t number, std::string_view state, std::string_view reason);
  void KeepSlotsToClear();
  bool MustSendNote() const;
  void SendNote();
  bool IsIdle() const;
  void StartSome();
  void SwitchJournal();
  void Remember(SlotMigrationView view);
  SlotMigrationView NewView(const SlotImportRequest& request) const;
  const Topology& topology() const { return host_.bus().topology(); }
  int64_t Seconds() const;

  Engine& engine_;
  MigrationHost& host_;
  Connector& connector_;
  std::vector<std::unique_ptr<SlotExport>> exports_;
  std::vector<std::unique_ptr<Import>> imports_;
  std::deque<SlotMigrationView> ended_;  // the latest first
  SlotSet noted_;                        // for the replicas
  Micros noted_at_{0};                   // by the stopwatch
  RequestParser parser_;                 // of units; empty between them
  bool skips_next_ = false;              // the last effect replaced the next one
  std::optional<Micros> paused_at_;      // while an export pauses writes; by the stopwatch
  Micros may_pause_at_{0};
  bool is_journal_ = false;
  bool was_flushed_ = false;  // while slots were imported
  std::vector<Installation> installations_;
};

}  // namespace zsetd
