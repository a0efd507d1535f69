#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "protocol/resp/output_buffer.h"

namespace zsetd {

// A connection that this server opens to another one. Its destructor closes it; its owner is not
// notified any more.
class Connection {
 public:
  // Receives its events between the requests of clients, first the result of opening it. A call may
  // destroy the connection.
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

  // Sets whether bytes are received; initially they are. At most 64 KB that were read already may
  // still arrive.
  virtual void set_receives(bool receives) = 0;
};

// Opens connections.
class Connector {
 public:
  struct Target {
    std::string host;  // an address or a name
    int port = 0;
    bool with_tls = false;
  };

  virtual ~Connector() = default;

  // Starts to open a connection. Returns before the first event reaches `owner`, which outlives it.
  // Does not block.
  virtual std::unique_ptr<Connection> Connect(const Target& target, Connection::Owner& owner) = 0;
};

}  // namespace zsetd
