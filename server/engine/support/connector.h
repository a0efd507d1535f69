#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "protocol/resp/output_buffer.h"

namespace zsetd {

// A connection that this server opens to another one. To destroy it closes it; its owner hears
// nothing more then.
class Connection {
 public:
  // Hears of it between the requests of clients, first of how it was opened, or that it was not. A
  // call may destroy the connection.
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
  struct Ends {
    std::string address;        // "127.0.0.1:6379", of the other side
    std::string local_address;  // the same, of this one
    int descriptor = -1;
  };

  virtual ~Connection() = default;

  // Once it is open.
  virtual Ends ends() const = 0;

  // What is added to it is sent after Send(), as soon as the network takes it.
  virtual OutputBuffer& output() = 0;
  virtual void Send() = 0;

  // Whether bytes are received, as at first. What has been read from the network already, 64 KB at
  // most, may still come.
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

  // Begins to open one, and returns before `owner`, who outlives it, hears of it. Does not block.
  virtual std::unique_ptr<Connection> Connect(const Target& target, Connection::Owner& owner) = 0;
};

}  // namespace zsetd
