#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "server/engine/support/connector.h"

namespace zsetd {

// The port at which other servers connect to this one, apart from clients: the bus of a cluster.
class PeerPort {
 public:
  // Accepts a connection with this owner, which outlives it.
  using Accept = std::function<std::unique_ptr<Connection>(Connection::Owner&)>;

  // Called for each new connection, between the requests of clients. The connection is closed
  // unless it is accepted before the function returns.
  using OnPeer = std::function<void(const Accept&)>;

  virtual ~PeerPort() = default;

  // Listens on this port of each address of the setting `bind`, with TLS while the setting
  // tls-cluster is yes, until the server stops. `on_peer` is valid until then. An error is
  // human-readable.
  virtual absl::Status ListenForPeers(int64_t port, OnPeer on_peer) = 0;
};

}  // namespace zsetd
