#pragma once

#include "absl/status/status.h"

namespace zsetd {

// Moves the program into the background (daemonize): into a process and a session of its own, away
// from the terminal. Unlike in Redis, the started process waits until the server is ready. If the
// server fails before that, the process ends with the server's exit code. So a script or a
// supervisor that starts the server detects its readiness or its failure.
class Background {
 public:
  Background() = default;
  Background(const Background&) = delete;
  ~Background();

  // Forks, and returns in the child only. The child keeps the terminal for error messages until
  // ReportReady(). Precondition: no other thread runs. The error is a message for the operator.
  absl::Status Enter();

  // Makes the started process end with success, and detaches from the terminal: standard input and
  // outputs become /dev/null. Has no effect in the foreground.
  void ReportReady();

 private:
  int report_ = -1;  // the pipe on which the parent waits for a byte; -1: no parent waits
};

}  // namespace zsetd
