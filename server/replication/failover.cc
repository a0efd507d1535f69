#include "server/replication/failover.h"

#include <cassert>
#include <chrono>
#include <utility>

#include "server/engine/support/errors.h"

namespace zsetd {

Failover::Failover(Engine& engine, const Replicas& replicas, TransferRole transfer_role)
    : engine_(engine), replicas_(replicas), transfer_role_(std::move(transfer_role)) {}

std::string_view Failover::state() const {
  switch (state_) {
    case State::kWaiting:
      return "waiting-for-sync";
    case State::kHandover:
      return "failover-in-progress";
    default:
      return "no-failover";
  }
}

absl::Status Failover::Start(const FailoverRequest& request) {
  if (IsOn()) return Refusal("ERR FAILOVER already in progress.");
  if (engine_.replication().is_replica()) {
    return Refusal("ERR FAILOVER is not valid when server is a replica.");
  }
  if (replicas_.Status().empty()) return Refusal("ERR FAILOVER requires connected replicas.");
  if (request.forces && (request.timeout == Millis(0) || request.host.empty())) {
    return Refusal(
        "ERR FAILOVER with force option requires both a timeout and target HOST and IP.");
  }
  if (!request.host.empty()) {
    const Replica* const target = replicas_.Find(request.host, request.port);
    if (target == nullptr) {
      return Refusal("ERR FAILOVER target HOST and PORT is not a replica.");
    }
    if (!target->IsOnline()) {  // as INFO shows it; Target() waits for the rest
      return Refusal("ERR FAILOVER target replica is not online.");
    }
  }
  const Millis now = engine_.store().now();
  request_ = request;
  until_ = request.timeout > Millis(0) ? std::optional(now + request.timeout) : std::nullopt;
  state_ = State::kWaiting;
  has_asked_ = false;
  engine_.clients().pause().Begin(ClientPause::Cause::kFailover, ClientPause::Reach::kWrites, now,
                                  ClientPause::kUntilEnded);
  return absl::OkStatus();
}

void Failover::End() {
  if (!IsOn()) return;
  state_ = State::kNone;
  engine_.clients().pause().End(ClientPause::Cause::kFailover);
}

bool Failover::HasTimedOut() const {
  const bool is_over = until_ && engine_.store().now() >= *until_;
  return state_ == State::kWaiting && is_over && !request_.forces;
}

// The replica to hand over to, if it has acknowledged the whole history; else null.
const Replica* Failover::Target() const {
  const Replica* const target = replicas_.Find(request_.host, request_.port);
  const bool has_all = target != nullptr && target->state() == Replica::State::kStream &&
                       target->acknowledged() >= engine_.replication().offset();
  return has_all ? target : nullptr;
}

// A request for acknowledgements would itself have to be acknowledged. redis-server does that up to
// a second later, so a replica that has the whole history is not asked.
void Failover::Advance() {
  if (state_ != State::kWaiting) return;
  if (const Replica* const target = Target()) {
    const ReplicaStatus status = replicas_.StatusOf(*target);
    return BeginHandover({status.address, status.port});
  }
  const bool is_over = until_ && engine_.store().now() >= *until_;
  if (is_over && request_.forces) return BeginHandover({request_.host, request_.port});
  if (!std::exchange(has_asked_, true)) engine_.services().replicas->AskForAcknowledgements();
}

void Failover::BeginHandover(const MasterAddress& target) {
  assert(state_ == State::kWaiting);
  state_ = State::kHandover;
  transfer_role_(target);
}

}  // namespace zsetd
