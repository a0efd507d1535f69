#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/cluster/bus/bus_roles.h"
#include "server/cluster/bus/bus_sender.h"
#include "server/cluster/bus/bus_state.h"
#include "server/cluster/message/bus_message.h"
#include "server/cluster/topology/slot_set.h"

namespace zsetd {

// The grants of this node, by which the target of a migration may take slots with a stated epoch
// and within a stated time. The target may crash after it has saved the takeover, and announce it
// later. So a grant is saved and synced before it is sent, and ends in one of two ways:
//
//   Open() ──► held: the migration pauses writes ──► Close(): the target owns the slots
//                     │ GiveUp(), or a restart
//                     ▼
//              withheld: these slots are not served ──► outbid: this node claims a greater epoch,
//                                                        saves and announces it, and serves again
//
// After the time of the grant this node announces its slots. A node that knows the takeover replies
// with it. This node outbids when the cluster is up, the target and a majority of the masters have
// sent messages since then, and a reply has had some time to arrive. It waits for the target no
// longer than a node timeout, after which a target without contact is down.
//
// A target whose takeover is announced too late withholds the slots, too, until the source shows
// that it has given them up, has outbid the target, or has failed.
//
// Invariant: at most one grant exists.
class SlotGrants {
 public:
  SlotGrants(BusState& state, BusRoles& roles, BusSender& sender);

  // Grants slots of this node for some time, with the returned epoch, which no election uses: the
  // current epoch is greater from now on. After an error nothing is granted. The error is
  // human-readable.
  absl::StatusOr<uint64_t> Open(const SlotSet& slots, const std::string& target_id, int64_t millis);

  // Another node owns the slots, or this node has no role in it any more.
  void Close();

  // The migration has failed, so that its pause ends. `is_refused`: the target has replied that it
  // has not taken the slots. Outbids immediately if that is possible.
  void GiveUp(bool is_refused);

  // This node has announced a takeover of slots of this source too late.
  void TakeLate(const SlotSet& slots, const ClusterNode& source);

  // A message of a node shows which slots it claims.
  void TakeClaims(const ClusterNode& sender, const BusHeader& header);

  // Must be called about every 100 ms. Requests the messages that a decision waits for.
  void Tick();

  // Makes the step that is due. Cheap if no slots are granted or withheld.
  void Check();

  // The slots that this node must not serve, although it owns them.
  SlotSet WithheldSlots() const;

 private:
  bool IsInDoubt() const { return state_.topology.grant && !is_held_; }
  void CheckLate();
  void EndLate(SlotSet& late, const SlotSet& ended);
  void Outbid();
  bool HasTargetResponded() const;
  bool HasMajorityResponded() const;
  void RequestMessage(ClusterNode& node);

  BusState& state_;
  BusRoles& roles_;
  BusSender& sender_;
  bool is_held_ = false;         // the migration still pauses writes
  bool needs_responses_ = true;  // of the target and a majority since `asked_at_`
  int64_t ends_at_ = 0;          // the grant: then the target cannot take the slots any more
  int64_t asked_at_ = 0;         // the first announcement since then; 0: none
  int64_t outbids_at_ = 0;       // not before
  std::map<std::string, SlotSet> late_slots_;  // by the ID of the source
};

}  // namespace zsetd
