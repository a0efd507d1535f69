#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "core/util/time.h"
#include "server/engine/engine.h"
#include "server/engine/services/master_control.h"
#include "server/engine/state/replication_state.h"
#include "server/replication/replicas.h"

namespace zsetd {

// Exchanges the roles with a replica without losing a write (FAILOVER):
//
//   kNone ──► kWaiting: writes are paused until the replica has all ──► kHandover: it receives
//     ↑                                                                 become the master, and
//     └────────────── has become it, or has refused ◄──────────────── this its replica
class Failover {
 public:
  // The arguments outlive this. `transfer_role` makes this server a replica of the given server,
  // which becomes the master.
  using TransferRole = std::function<void(const MasterAddress&)>;
  Failover(Engine& engine, const Replicas& replicas, TransferRole transfer_role);

  // Pauses writes and waits. The pause lasts until `End()`; a restarted server is not paused.
  absl::Status Start(const FailoverRequest& request);
  bool IsOn() const { return state_ != State::kNone; }
  bool IsHandingOver() const { return state_ == State::kHandover; }
  std::string_view state() const;  // the name in Redis

  // Ends the failover, successful or not. Paused writes continue.
  void End();

  // Whether the timeout has passed before the replica has acknowledged the whole history.
  bool HasTimedOut() const;

  // Hands over when the conditions are met. Must be called between units.
  void Advance();

 private:
  enum class State { kNone, kWaiting, kHandover };

  const Replica* Target() const;
  void BeginHandover(const MasterAddress& target);

  Engine& engine_;
  const Replicas& replicas_;
  const TransferRole transfer_role_;
  State state_ = State::kNone;
  bool has_asked_ = false;  // for acknowledgements
  FailoverRequest request_;
  std::optional<Millis> until_;
};

}  // namespace zsetd
