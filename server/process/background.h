#pragma once

#include "absl/status/status.h"

namespace zsetd {

// Moves the program into the background (daemonize): into a process and a session of its own, away
// from the terminal. Unlike Redis's, the process that was started waits until the server is ready
// and ends with its exit code if it does not become so: a script or a supervisor that starts the
// server is notified of its failure, and of its readiness.
class Background {
 public:
  Background() = default;
  Background(const Background&) = delete;
  ~Background();

  // Forks, and returns in the child alone, which still has the terminal for its complaints. No
  // other thread may run yet. The error is a message for the operator.
  absl::Status Enter();

  // Lets the process that was started end with success, and lets go of the terminal: standard input
  // and outputs are /dev/null from now on. Nothing happens in the foreground.
  void ReportReady();

 private:
  int report_ = -1;  // where the parent waits for a byte; -1: there is no parent that waits
};

}  // namespace zsetd
