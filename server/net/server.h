#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/engine/engine.h"
#include "server/engine/services/installation.h"
#include "server/engine/services/network_control.h"
#include "server/engine/support/peer_port.h"
#include "server/net/engine_gate.h"
#include "server/net/held_replies.h"
#include "server/net/io_thread.h"
#include "server/net/listener.h"
#include "server/net/outgoing.h"
#include "server/net/posted_steps.h"
#include "server/net/session.h"
#include "server/net/socket/stream_socket.h"
#include "server/net/socket/tls_context.h"
#include "server/net/socket/wake_signal.h"
#include "server/net/ticker.h"
#include "server/process/spdlog_log.h"

namespace zsetd {

// The network side of the engine: listens, owns the sessions, ticks, and shuts down on SIGTERM,
// SIGINT or SHUTDOWN. SIGHUP reopens the log file.
//
// `io-threads` threads serve the sessions. The main thread is one of them; it alone also accepts
// connections, ticks, handles signals, holds replies for the log, runs posted steps, and does the
// work of connections to other servers. A thread that sets an earlier deadline wakes it.
//
// All functions and fields are for the thread that is in the engine, unless they state otherwise.
class Server : public NetworkControl, public PeerPort {
 public:
  // `log_signal` is sent when more of the append-only log is durable, or when a snapshot needs a
  // turn. All arguments outlive the server.
  Server(boost::asio::io_context& io, Engine& engine, SpdlogLog& log, const WakeSignal& log_signal);

  // Listens with the plain port and the TLS port on every address of the setting `bind`, and on the
  // Unix socket. Skips an optional address (with a minus) that this machine does not have. At least
  // one address or the Unix socket must remain. The error states what failed.
  absl::Status Listen();

  // The other nodes of a cluster connect to this port. Must be called before Run().
  absl::Status ListenForPeers(int64_t port, OnPeer on_peer) override;

  // Applies changed settings: reads the TLS files again, for new connections, and listens on other
  // addresses and ports. Existing connections stay. Checks ciphers and versions even while TLS is
  // not in use. A refusal is a human-readable reason and changes nothing.
  //
  // Compares with the addresses and the TLS context in use, not with the engine's settings. So a
  // call with the engine's settings undoes the last call, if another service refused its settings.
  absl::Status Apply(const Settings& settings) override;

  // Serves clients until the server stops. The calling thread is the main thread. Before and after
  // this call, no thread needs to be in the engine. Returns an error and serves nothing if a thread
  // cannot be created.
  absl::Status Run();

  // Makes Run() stop listening, run the requests that have arrived, send the replies, close and
  // return. After a second call, or after `shutdown-timeout`, it no longer waits for clients.
  void AskToStop() override { ++asked_to_stop_; }

  NetworkStatus network_status() const override;
  void ResetStats() override;

  // `was_cut_short()`: a second SIGINT ended Run(), so data may not be saved.
  bool is_stopping() const { return stopping_; }
  bool was_cut_short() const { return was_cut_short_; }

  // Makes Run() call the function between the requests of a round, and again as long as it returns
  // true. May be called by any thread.
  void Post(PostedSteps::Step step) { posted_steps_->Post(std::move(step)); }

  // Opens connections to other servers, which take part in the rounds of Run().
  Connector& connector() { return connector_; }

 private:
  // One address and port to listen on.
  struct ListenAddress {
    std::string address;  // in the syntax of `bind`
    int64_t port = 0;
    bool with_tls = false;

    bool operator==(const ListenAddress&) const = default;
  };
  struct OpenListener {
    ListenAddress address;
    std::shared_ptr<Listener> listener;
  };
  // The TLS context of new connections. Empty until TLS is used.
  struct TlsInUse {
    TlsContext context;
    std::shared_ptr<const Settings> settings;  // from which the context was made

    bool IsOf(const Settings& other) const;
  };
  static std::vector<ListenAddress> AddressesOf(const Settings& settings);
  absl::Status ListenAt(const std::vector<ListenAddress>& addresses);
  absl::StatusOr<std::shared_ptr<Listener>> Open(const ListenAddress& where,
                                                 std::function<void(StreamSocket)> on_connection);
  absl::Status ListenAtPath();
  absl::Status ApplyTls(const Settings& settings);
  absl::Status ApplyAddresses(const Settings& settings);
  std::function<void(StreamSocket)> ToClients(bool with_tls);
  void OnConnection(StreamSocket socket, bool with_tls);
  void OnPeer(StreamSocket socket, const PeerPort::OnPeer& on_peer);
  size_t Connections() const;
  IoThread& LeastLoaded();
  void Reject(StreamSocket& socket, bool with_tls, std::string_view reason);
  bool IsProtectedFrom(const StreamSocket& socket) const;
  void OnEnd(Session& session);
  void AwaitSignal();
  void OnTermination(int signal);
  void OnRepeatedTermination(int signal);
  void ReopenLog();
  absl::Status StartThreads();
  void StopThreads();
  void DoUpkeep(bool interrupted);
  void PlanUpkeep(Micros now);
  void WakeMainIfDue();
  bool HasShutdownWork() const;
  void ContinueShutdown();
  void Stop();
  Millis GraceForClients() const;
  void SetPatience(Millis patience);
  void AbandonSessions();
  void FinishReplicas();
  Micros LongestWait() const;
  bool IsDone(Micros now) const;

  boost::asio::io_context& io_;
  Engine& engine_;
  RequestPort port_{engine_};  // of whichever thread is in the engine
  SpdlogLog& log_;
  Ticker ticker_;
  EngineGate gate_;
  IoThread main_;
  std::vector<std::unique_ptr<IoThread>> others_;
  OutgoingConnector connector_;
  std::shared_ptr<HeldReplies> held_replies_;
  std::shared_ptr<PostedSteps> posted_steps_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer grace_;  // for clients, then for replicas
  std::vector<OpenListener> listeners_;
  std::vector<ListenAddress> addresses_;  // of `listeners_`, and the skipped ones
  std::vector<std::shared_ptr<Listener>> peer_listeners_;
  std::shared_ptr<Listener> unix_listener_;  // null without a Unix socket
  TlsInUse tls_;
  TlsInUse tls_before_;  // the last change replaced it, and may be undone
  absl::flat_hash_set<std::shared_ptr<Session>> sessions_;
  int asked_to_stop_ = 0;
  bool is_listening_ = false;
  bool stopping_ = false;
  bool replicas_finish_ = false;
  bool was_cut_short_ = false;
  bool needs_upkeep_ = false;  // at the end of the main thread's round
  Micros upkeep_at_{0};        // at the latest, in monotonic time
  Micros next_turn_{0};        // Asio's, in monotonic time
  Micros longest_wait_{0};
  bool is_done_ = false;
  const Installation installation_;
};

}  // namespace zsetd
