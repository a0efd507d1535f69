#pragma once

#include <sys/socket.h>

#include <memory>
#include <string>
#include <vector>

namespace zsetd {

struct NetworkAddress {
  sockaddr_storage bytes;
  socklen_t size;
};

// Looks up the addresses of a host. An address needs no lookup; a name is looked up on a thread of
// its own, for the system's own function blocks, for many seconds if no name server answers.
// Destroyed before it is done, it lets that thread end by itself.
class NameLookup {
 public:
  // Throws std::system_error if there is no descriptor or no thread left.
  NameLookup(const std::string& host, int port);

  // Becomes readable when the lookup is done.
  int descriptor() const;

  bool done() const;

  // After the lookup: the addresses in the order in which to try them. Without any, error() returns
  // the reason.
  const std::vector<NetworkAddress>& addresses() const;
  const std::string& error() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace zsetd
