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

// Looks up the addresses of a host. A numeric address needs no lookup. A name is looked up on a
// thread of its own, because the system's function blocks, for many seconds if no name server
// replies. If the object is destroyed before the lookup is done, the thread ends by itself.
class NameLookup {
 public:
  // Throws std::system_error if no descriptor or no thread is left.
  NameLookup(const std::string& host, int port);

  // Becomes readable when the lookup is done.
  int descriptor() const;

  bool done() const;

  // After the lookup: the addresses in the order in which to try them. Without any, error()
  // returns the reason.
  const std::vector<NetworkAddress>& addresses() const;
  const std::string& error() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace zsetd
