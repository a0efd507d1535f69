#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/engine/config/settings.h"
#include "server/engine/support/connector.h"
#include "server/net/socket/name_lookup.h"
#include "server/net/socket/poller.h"
#include "server/net/socket/socket.h"
#include "server/net/socket/tls.h"

namespace zsetd {

// A connection to another server, or one that another server has opened (StartAccepted). Like the
// connections of clients, it takes part in the poller's rounds:
//
//   Serve     network -> buffer -> owner
//   Collect   output -> network
//
// All of its work is done in these steps, in the engine, because a command of any thread may start,
// use and close it.
//
// It looks up the name, tries the addresses one after the other, and performs the TLS handshake if
// TLS is on. Then it notifies the owner.
class Outgoing : public Polled, public std::enable_shared_from_this<Outgoing> {
 public:
  // `tls` is null for a connection without TLS. The poller and the settings outlive this object;
  // `owner` is used until Close().
  Outgoing(Poller& poller, const Settings& settings, std::unique_ptr<Tls> tls,
           Connection::Owner& owner);

  // Starts to connect.
  void Start(const Connector::Target& target);

  // Called instead of `Start()`, on the poller's thread: takes an accepted connection.
  void StartAccepted(Socket socket, size_t read_bytes);

  // Called instead of `Start()`: reports this error to the owner.
  void StartFailed(std::string reason);

  // Closes the connection. The owner is not notified again.
  void Close();

  Connection::Endpoints endpoints() const;
  OutputBuffer& output() { return output_; }
  size_t unsent_bytes() const { return output_.size() + sending_.size(); }
  void WakeToSend();
  void set_receives(bool receives);

 private:
  enum class State { kNew, kLookup, kConnecting, kHandshake, kOpen, kClosed };

  std::shared_ptr<Polled> Self() override { return shared_from_this(); }
  void Receive() override {}
  void Serve() override;
  void Collect() override;
  void Send() override {}

  void BeginLookup();
  bool MayRead() const;
  void Read();
  void TryNext(std::string reason);
  bool TryAddress(const NetworkAddress& address, std::string& reason);
  void FinishConnecting();
  void Deliver();
  bool ShakeHands();
  void DeliverDecrypted();
  void EndTls();
  void NextPart();
  bool HasNextPart() const;
  void Flush();
  void Await();
  void End(std::string reason);

  Poller& poller_;
  const Settings& settings_;
  std::unique_ptr<Tls> tls_;
  Connection::Owner* owner_;
  Connector::Target target_;
  State state_ = State::kNew;
  std::unique_ptr<NameLookup> lookup_;
  size_t tried_ = 0;  // the number of addresses
  Socket socket_;
  bool receives_ = true;
  std::string arrived_;  // a buffer for one call of read
  size_t arrived_size_ = 0;
  OutputBuffer output_;
  OutputBuffer sending_;    // bytes of `output_`, encrypted if TLS is on
  std::string end_reason_;  // not empty: the connection has ended, and the owner must be notified
};

// Returns the handle of a connection that another server has opened, which takes part in the rounds
// of the calling thread's poller. `tls` is null for a connection without TLS.
std::unique_ptr<Connection> AcceptConnection(Poller& poller, const Settings& settings,
                                             Socket socket, std::unique_ptr<Tls> tls,
                                             Connection::Owner& owner);

// Opens connections that take part in this poller's rounds.
class OutgoingConnector : public Connector {
 public:
  // The poller and the settings outlive this object and all connections.
  OutgoingConnector(Poller& poller, const Settings& settings)
      : poller_(poller), settings_(settings) {}

  std::unique_ptr<Connection> Connect(const Target& target, Connection::Owner& owner) override;

 private:
  Poller& poller_;
  const Settings& settings_;
};

}  // namespace zsetd
