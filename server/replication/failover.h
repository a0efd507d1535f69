#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "core/util/time.h"
#include "server/engine/engine.h"
#include "server/engine/replication.h"
#include "server/engine/replication_state.h"
#include "server/replication/replicas.h"

namespace zsetd {

// The exchange of roles with a replica (FAILOVER), in which no write is lost:
//
//   kNone ──► kWaiting: writes are paused until the replica has all ──► kHandover: it receives
//     ↑                                                                 become the master, and
//     └────────────── has become it, or has refused ◄──────────────── this its replica
class Failover {
 public:
  // Both outlive it. `hand_over` makes this server the replica of that one, which takes over.
  using HandOver = std::function<void(const MasterAddress&)>;
  Failover(Engine& engine, const Replicas& replicas, HandOver hand_over);

  absl::Status Start(const FailoverRequest& request);
  bool IsOn() const { return state_ != State::kNone; }
  bool IsHandingOver() const { return state_ == State::kHandover; }
  std::string_view state() const;  // the name in Redis

  // Ends the failover, successful or not: writes continue.
  void End();

  // Whether the time is over without the replica having all.
  bool HasTimedOut() const;

  // Hands over if that may be done now.
  void Tick();

 private:
  enum class State { kNone, kWaiting, kHandover };

  const Replica* Target() const;
  void BeginHandover(const MasterAddress& target);

  Engine& engine_;
  const Replicas& replicas_;
  const HandOver hand_over_;
  State state_ = State::kNone;
  FailoverRequest request_;
  std::optional<Millis> until_;
};

}  // namespace zsetd
