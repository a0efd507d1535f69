#pragma once

#include <cassert>

#include "server/engine/client/client.h"
#include "server/engine/notify/notifier.h"

namespace zsetd {

// The scope of a client's running command: changes are the client's own, and messages to it wait
// for the end of its reply. Scopes do not nest.
class ActiveClient {
 public:
  // Both outlive it.
  ActiveClient(Notifier& notifier, Client& client) : notifier_(notifier), client_(client) {
    assert(notifier.active() == nullptr);
    client.executing = true;
    notifier.active_ = &client;
  }
  ActiveClient(const ActiveClient&) = delete;
  ~ActiveClient() {
    notifier_.active_ = nullptr;
    client_.executing = false;
  }

 private:
  Notifier& notifier_;
  Client& client_;
};

}  // namespace zsetd
