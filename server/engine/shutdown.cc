#include "server/engine/shutdown.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <string_view>
#include <utility>

#include "server/engine/engine.h"
#include "server/engine/services/network_control.h"
#include "server/engine/services/replica_registry.h"
#include "server/engine/services/services.h"
#include "server/engine/services/snapshot_control.h"

namespace zsetd {
namespace {

constexpr std::string_view kFailed = "ERR Errors trying to SHUTDOWN. Check logs.";

}  // namespace

// The clock of the machine may be set while replicas are waited for.
Millis Shutdown::Now() const {
  return std::chrono::duration_cast<Millis>(engine_.host().stopwatch());
}

bool Shutdown::HasReplicas() const { return !engine_.services().replicas->replicas().empty(); }

// The stream of a replica's own master does not pause. No change of it is lost with this server.
int64_t Shutdown::Target() const {
  return engine_.replication().is_replica() ? target_ : engine_.services().replicas->last_change();
}

bool Shutdown::AllCaughtUp() const {
  return !HasReplicas() || engine_.services().replicas->ProgressTo(Target()).lagging.empty();
}

Shutdown::State Shutdown::Start(const ShutdownOptions& options) {
  if (state_ == State::kEnds) return state_;
  if (state_ == State::kReplicas) {
    if (!options.now) return state_;
    options_ = options;
    return Finish();
  }
  options_ = options;
  waited_ = Millis(0);
  engine_.host().log->Write(LogLevel::kWarning, "User requested shutdown...");
  if (!HasReplicas()) return Finish();
  ReplicaRegistry& replicas = *engine_.services().replicas;
  const Millis now = engine_.store().now();
  engine_.clients().pause().Begin(ClientPause::Cause::kShutdown, ClientPause::Reach::kWrites, now,
                                  Millis::max());
  target_ = replicas.last_change();
  const auto timeout = std::chrono::seconds(engine_.settings().shutdown_timeout);
  if (options.now || timeout.count() == 0 || AllCaughtUp()) return Finish();
  state_ = State::kReplicas;
  began_ = Now();
  deadline_ = began_ + timeout;
  engine_.host().log->Write(LogLevel::kNotice, "Waiting for replicas before shutting down.");
  replicas.AskForAcknowledgements();
  return state_;
}

void Shutdown::StartAfterScript(const ShutdownOptions& options) {
  assert(engine_.mode().is_suspended());
  options_ = options;
  state_ = State::kScript;
}

void Shutdown::Await(Client& client) {
  assert(state_ == State::kReplicas && !client.awaits_shutdown);
  client.awaits_shutdown = true;
  clients_.push_back(&client);
}

bool Shutdown::Abort() {
  if (state_ != State::kScript && state_ != State::kReplicas) return false;
  Cancel();
  engine_.host().log->Write(LogLevel::kWarning, "Shutdown manually aborted.");
  return true;
}

bool Shutdown::IsDue() const {
  if (state_ == State::kScript) return engine_.mode().IsBetweenUnits();
  return state_ == State::kReplicas && (Now() >= deadline_ || AllCaughtUp());
}

void Shutdown::Continue() {
  if (state_ == State::kScript) {
    state_ = State::kNone;
    (void)Start(options_);
  } else if (state_ == State::kReplicas) {
    (void)Finish();
  }
}

std::optional<Millis> Shutdown::TimeLeft() const {
  if (state_ != State::kReplicas) return std::nullopt;
  return std::max(deadline_ - Now(), Millis(0));
}

void Shutdown::LogReplicas() const {
  const ReplicaProgress progress = engine_.services().replicas->ProgressTo(Target());
  for (const ReplicaStatus& replica : progress.lagging) {
    const int64_t behind = engine_.replication().offset() - replica.offset;
    engine_.host().log->Write(
        LogLevel::kNotice,
        "Lagging replica " + replica.address + ":" + std::to_string(replica.port) +
            " reported offset " + std::to_string(behind) + " behind master, lag=" +
            std::to_string(replica.lag_s) + ", state=" + std::string(replica.state) + ".");
  }
  if (progress.replicas == 0) return;
  engine_.host().log->Write(LogLevel::kNotice,
                            std::to_string(progress.replicas - progress.lagging.size()) + " of " +
                                std::to_string(progress.replicas) +
                                " replicas are in sync when shutting down.");
}

// An error leaves the server running, rather than lose its data.
Shutdown::State Shutdown::Finish() {
  assert(state_ != State::kEnds);
  if (state_ == State::kReplicas) waited_ = Now() - began_;
  LogReplicas();
  const absl::Status saved =
      engine_.services().snapshots->SaveBeforeExit(options_.save, options_.nosave);
  if (!saved.ok() && options_.force) {
    engine_.host().log->Write(LogLevel::kWarning, "Error trying to save the DB. Exit anyway.");
  } else if (!saved.ok()) {
    engine_.host().log->Write(
        LogLevel::kWarning,
        "Errors trying to shut down the server. It continues, because its data could not be "
        "saved. "
        "SHUTDOWN NOSAVE ends it without saving.");
    Cancel();
    return state_;
  }
  state_ = State::kEnds;
  for (Client* const client : std::exchange(clients_, {})) {
    client->awaits_shutdown = false;
    client->connection.close_after_reply = true;
    client->mailbox.Wake();
  }
  engine_.services().network->AskToStop();
  return state_;
}

void Shutdown::Cancel() {
  state_ = State::kNone;
  engine_.clients().pause().End(ClientPause::Cause::kShutdown);
  for (Client* const client : std::exchange(clients_, {})) {
    client->awaits_shutdown = false;
    engine_.blocked_runner().EndWithError(*client, *engine_.commands().FindOriginal("shutdown"),
                                          kFailed);
  }
}

void Shutdown::OnLeave(Client& client) {
  if (client.awaits_shutdown) std::erase(clients_, &client);
}

}  // namespace zsetd
