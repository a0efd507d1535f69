#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "server/engine/engine.h"
#include "server/net/listener.h"
#include "server/net/poller.h"
#include "server/net/session.h"
#include "server/net/stream_socket.h"
#include "server/net/ticker.h"
#include "server/net/tls_context.h"

namespace zsetd {

// The engine's door to the network: listens, keeps the sessions, ticks, and ends in good order on
// SIGTERM, SIGINT or SHUTDOWN.
class Server {
 public:
  Server(boost::asio::io_context& io, Engine& engine);

  // Listens on every address of the setting `bind`, but for one after a minus that this machine
  // does not have, with the plain port and that of TLS, and on the unix socket; at least one must
  // remain. The error says what failed.
  absl::Status Listen();

  // Reads the files for TLS anew, if it is in use and the settings for it have changed; new
  // connections go by them. A refusal is a reason for people, and leaves all as it was.
  absl::Status Apply(const Settings& settings);

  // Serves until the end.
  void Run();

  // Has Run() stop listening, answer what has been received, close and return. Asked a second time,
  // or after a few seconds, it waits for no client any more.
  void AskToStop() { ++asked_to_stop_; }

 private:
  absl::Status ListenOn(std::string_view address, int64_t port, bool with_tls);
  absl::Status ListenAtPath();
  std::shared_ptr<Listener> MakeListener(bool with_tls);
  void OnConnection(StreamSocket socket, bool with_tls);
  void TurnAway(StreamSocket& socket, bool with_tls, std::string_view reason);
  bool IsProtectedFrom(const StreamSocket& socket) const;
  void OnEnd(Session& session);
  void AwaitSignal();
  void Stop();
  bool IsDone() const;

  boost::asio::io_context& io_;
  Engine& engine_;
  Ticker ticker_;
  Poller poller_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer grace_;  // for clients that do not read their last replies
  std::vector<std::shared_ptr<Listener>> listeners_;
  TlsContext tls_;  // for new connections; null while TLS is not in use
  absl::flat_hash_set<std::shared_ptr<Session>> sessions_;
  int asked_to_stop_ = 0;
  bool stopping_ = false;
};

}  // namespace zsetd
