#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "protocol/resp/args.h"
#include "server/cluster/migration/export_machine.h"
#include "server/cluster/migration/reply_scanner.h"
#include "server/cluster/migration/slot_copy.h"
#include "server/cluster/topology/topology.h"
#include "server/engine/engine.h"
#include "server/engine/services/slot_migration_control.h"
#include "server/engine/support/connector.h"

namespace zsetd {

// A migration of slots from this node: the connection to the target, over which the keys and
// changes are sent as requests of a client.
class SlotExport : private Connection::Owner {
 public:
  // Makes the steps that concern the whole node.
  class Owner {
   public:
    virtual ~Owner() = default;

    // The migration pauses writes, or does so no longer (IsPaused()).
    virtual void OnPause() = 0;

    // Whether the migration may pause writes now.
    virtual bool MayPause() const = 0;

    // The target may take the slots during this time, with the returned epoch. The error is a
    // reason for the migration to fail.
    virtual absl::StatusOr<uint64_t> OnGrant(const SlotExport& migration, Millis time) = 0;

    // The target owns the slots now.
    virtual void OnHandOver(const SlotExport& migration) = 0;

    // The connection was lost after the grant: the target may have taken the slots.
    virtual void OnLostGrant() = 0;

    // The migration fails after the grant, and its pause is about to end. `is_refused`: the target
    // has replied that it has not taken the slots.
    virtual void OnGivenUpGrant(bool is_refused) = 0;
  };

  // The engine, the topology and the owner outlive this.
  SlotExport(Engine& engine, const Topology& topology, Owner& owner, SlotMigrationView description,
             const SlotSet& slots);
  SlotExport(const SlotExport&) = delete;

  // Opens the connection. Ticks have no effect before.
  void Start(Connector& connector);
  bool has_started() const { return has_started_; }

  // Copies keys until the time has passed, unless much is unsent or not acknowledged. Makes all
  // other steps that are due.
  void Tick(Micros budget);
  bool HasWork() const;

  // For the effects of a unit on its slots: see SlotCopy.
  SlotCopy* copy() { return machine_.SendsChanges() && copy_ ? &*copy_ : nullptr; }

  // Sends the requests that were added since the last call.
  void Flush();

  void Fail(std::string_view reason);
  bool Cancel();

  bool has_ended() const { return machine_.has_ended(); }
  bool IsPaused() const { return machine_.IsPaused(); }
  const SlotSet& slots() const { return slots_; }
  const std::string& target_id() const { return description_.target_id; }

  // With the present state.
  SlotMigrationView View() const;

 private:
  using Step = ExportMachine::Step;

  void OnConnected() override;
  void OnReceived(std::string_view bytes) override;
  void OnConnectionEnd(std::string_view reason) override;

  void Make(Step step);
  void SendAuthentication();
  void SendAnnouncement();
  void SendGrant();
  void SendSignOfLife();
  void Send(std::string_view request);
  void Send(std::initializer_list<std::string_view> words);
  void Advance();
  void CopySome(Micros budget);
  bool HasRoom() const;
  void Settle();
  bool IsOwnedBy(const ClusterNode& node) const;
  ExportMachine::Limits LimitsNow() const;
  ExportMachine::Surroundings SurroundingsNow() const;
  Millis now() const;

  Engine& engine_;
  const Topology& topology_;
  Owner& owner_;
  const SlotMigrationView description_;
  SlotSet slots_;
  ExportMachine machine_;
  ReplyScanner scanner_;
  std::optional<SlotCopy> copy_;
  std::deque<size_t> awaited_sizes_;  // of the requests without a reply
  size_t awaited_bytes_ = 0;
  bool has_started_ = false;
  bool is_paused_ = false;  // as the owner knows
  bool has_granted_ = false;
  bool has_unsent_ = false;
  bool is_receiving_ = false;
  Millis spoke_at_{0};
  std::unique_ptr<Connection> connection_;  // null: not opened, or closed
};

}  // namespace zsetd
