#pragma once

#include "absl/status/status.h"

namespace zsetd {

struct Settings;

// Controls the server's network.
class NetworkControl {
 public:
  virtual ~NetworkControl() = default;

  // Must be called before the settings change to these. Listens on other addresses, and reads the
  // TLS files again. The error has a human-readable reason; nothing has changed then.
  virtual absl::Status Apply(const Settings& settings) = 0;

  // Requests a clean end of the server: the requests that have arrived are run, and their replies
  // are sent. After a second call, the server no longer waits for clients.
  virtual void AskToStop() = 0;
};

}  // namespace zsetd
