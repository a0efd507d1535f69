#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "server/engine/engine.h"
#include "server/net/listener.h"
#include "server/net/session.h"
#include "server/net/ticker.h"

namespace zsetd {

// The engine's door to the network: listens, keeps the sessions, ticks, and ends in good order on
// SIGTERM, SIGINT or SHUTDOWN.
class Server {
 public:
  Server(boost::asio::io_context& io, Engine& engine);

  // Listens on every address of the setting `bind`, but for one after a minus that this machine
  // does not have; at least one must remain. The error names the address that failed.
  absl::Status Listen();

  // Stops listening, answers what has been received and closes; then stops the context. Asked a
  // second time, or after a few seconds, it waits for no client any more.
  void Stop();

 private:
  using Tcp = boost::asio::ip::tcp;

  absl::Status ListenOn(std::string_view address);
  void OnConnection(Tcp::socket socket);
  void TurnAway(Tcp::socket& socket);
  void OnEnd(Session& session);
  void AwaitSignal();
  void EndIfDone();

  boost::asio::io_context& io_;
  Engine& engine_;
  Ticker ticker_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer grace_;  // for clients that do not read their last replies
  std::vector<std::unique_ptr<Listener>> listeners_;
  absl::flat_hash_set<std::shared_ptr<Session>> sessions_;
  bool stopping_ = false;
};

}  // namespace zsetd
