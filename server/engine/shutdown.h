#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/util/time.h"
#include "server/engine/config/shutdown_options.h"

namespace zsetd {

class Client;
class Engine;

// A planned end of the server, by SHUTDOWN or a signal, after which no replica lacks a change that
// was acknowledged:
//
//   kNone ──► kScript: a script is suspended, and ends before a snapshot is taken
//     │          │
//     ├──────────┴──► kReplicas: writes are paused until each replica has acknowledged all changes,
//     │                  │       or shutdown-timeout has passed
//     └──────────────────┴──► the snapshot is saved ──► kEnds: the host closes connections and ends
//
// SHUTDOWN ABORT and an error while saving lead back to kNone. Writes stay paused until the end if
// there are replicas: a change that no replica has acknowledged is not acknowledged to a client.
class Shutdown {
 public:
  enum class State { kNone, kScript, kReplicas, kEnds };

  // The engine outlives it.
  explicit Shutdown(Engine& engine) : engine_(engine) {}
  Shutdown(const Shutdown&) = delete;

  State state() const { return state_; }

  // Begins the shutdown, and saves and ends if there is nothing to wait for. If one waits already,
  // only `now` has an effect: it ends the wait, with these options. The result is kNone if the data
  // could not be saved; the log has the reason.
  State Start(const ShutdownOptions& options);

  // Begins it when the script that is suspended has ended.
  void StartAfterScript(const ShutdownOptions& options);

  // The client waits for the end, and has no reply yet. The state is kReplicas.
  void Await(Client& client);

  // Cancels a shutdown that waits: writes continue, and each client that waits gets an error. False
  // if there is none.
  bool Abort();

  // Whether the wait has ended, so that Continue() is to be called between two rounds.
  bool IsDue() const;

  // Takes the next step, which may save a snapshot.
  void Continue();

  // The time until the wait for replicas ends in any case. Nothing if there is no such wait.
  std::optional<Millis> TimeLeft() const;

  // How long the shutdown has waited for replicas.
  Millis waited() const { return waited_; }

  size_t waiting_clients() const { return clients_.size(); }

  // A client leaves.
  void OnLeave(Client& client);

 private:
  Millis Now() const;
  bool HasReplicas() const;
  bool AllCaughtUp() const;
  int64_t Target() const;
  State Finish();
  void LogReplicas() const;
  void Cancel();

  Engine& engine_;
  State state_ = State::kNone;
  ShutdownOptions options_;
  std::vector<Client*> clients_;  // that wait for the end
  int64_t target_ = 0;            // the offset of the last change when the wait began
  Millis began_{0};               // by the stopwatch, as the next
  Millis deadline_{0};
  Millis waited_{0};
};

}  // namespace zsetd
