#pragma once

#include <string>
#include <vector>

#include "core/util/time.h"
#include "protocol/resp/args.h"

namespace zsetd {

class Caller;
class Client;
struct Command;

// The clients that receive every command that the server runs (MONITOR), one line each:
//
//   +1700000000.123456 [0 127.0.0.1:50000] "SET" "key" "value"
//
// Invariant: these are the clients of which monitors() is true.
class Monitors {
 public:
  // Precondition: the client is not a monitor yet.
  void Add(Client& client);
  void Remove(Client& client);  // no effect if it is not a monitor

  bool Any() const { return !clients_.empty(); }

  // `by` has run this. Passwords are left out, and commands for administrators. O(clients * bytes).
  void Send(const Caller& by, const Command& command, Args argv, Micros at) const;

 private:
  std::vector<Client*> clients_;
};

}  // namespace zsetd
