#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "protocol/resp/output_buffer.h"

namespace zsetd {

// A connection to another server, which this one has opened or accepted. Its destructor closes it;
// its owner is not notified any more.
class Connection {
 public:
  // The most bytes of one call of OnReceived(), and those for connections with short messages.
  static constexpr size_t kReadBytes = 64u << 10;
  static constexpr size_t kFewReadBytes = 8u << 10;

  // Receives its events between the requests of clients, first the result of opening it: of one
  // that was accepted, the end of the TLS handshake. A call may destroy the connection.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void OnConnected() = 0;
    virtual void OnReceived(std::string_view bytes) = 0;

    // It has broken, or could not be opened, for this reason; or the other side has closed it. This
    // is the last call.
    virtual void OnConnectionEnd(std::string_view reason) = 0;
  };

  // As of a client's connection, for CLIENT LIST.
  struct Endpoints {
    std::string address;        // "127.0.0.1:6379", of the other side
    std::string local_address;  // the same, of this one
    int descriptor = -1;
  };

  virtual ~Connection() = default;

  // Once it is open.
  virtual Endpoints endpoints() const = 0;

  // Bytes that are added to it are sent after Send(), as soon as the network takes them.
  virtual OutputBuffer& output() = 0;
  virtual void Send() = 0;

  // The bytes of the output that the network has not taken yet.
  virtual size_t unsent_bytes() const = 0;

  // Sets whether bytes are received; initially they are. At most kReadBytes that were read already
  // may still arrive.
  virtual void set_receives(bool receives) = 0;
};

// Opens connections.
class Connector {
 public:
  struct Target {
    std::string host;  // an address or a name
    int port = 0;
    bool with_tls = false;
    size_t read_bytes = Connection::kReadBytes;
  };

  virtual ~Connector() = default;

  // Starts to open a connection. Returns before the first event reaches `owner`, which outlives it.
  // Does not block.
  virtual std::unique_ptr<Connection> Connect(const Target& target, Connection::Owner& owner) = 0;
};

}  // namespace zsetd
