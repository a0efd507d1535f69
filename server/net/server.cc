#include "server/net/server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <cassert>
#include <chrono>
#include <csignal>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>

#include "server/engine/services/cluster_control.h"
#include "server/engine/services/log_control.h"
#include "server/engine/services/services.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/port_limit.h"
#include "server/process/clock.h"

namespace zsetd {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
template <int name>
using TcpOption = asio::detail::socket_option::integer<IPPROTO_TCP, name>;

constexpr Millis kTurn{100};
constexpr Millis kLastTurn{5};
constexpr Millis kGraceForReplicas{1000};
constexpr size_t kFewCloses = 16;     // the files of the server (MakeRoomForClients) include these
constexpr int kUnansweredProbes = 3;  // then the connection counts as lost; as in Redis

// Text of Redis.
constexpr std::string_view kDenied =
    "-DENIED Redis is running in protected mode because protected mode is enabled and no password "
    "is set for the default user. In this mode connections are only accepted from the loopback "
    "interface. If you want to connect from external computers to Redis you may adopt one of the "
    "following solutions: 1) Just disable protected mode sending the command 'CONFIG SET "
    "protected-mode no' from the loopback interface by connecting to Redis from the same host the "
    "server is running, however MAKE SURE Redis is not publicly accessible from internet if you do "
    "so. Use CONFIG REWRITE to make this change permanent. 2) Alternatively you can just disable "
    "the protected mode by editing the Redis configuration file, and setting the protected mode "
    "option to 'no', and then restarting the server. 3) If you started the server manually just "
    "for testing, restart it with the '--protected-mode no' option. 4) Setup a an authentication "
    "password for the default user. NOTE: You only need to do one of the above things in order "
    "for the server to start accepting connections from the outside.\r\n";

void Prepare(StreamSocket& socket, const Settings& settings) {
  error_code ignored;  // a connection works without these options
  socket.set_option(tcp::no_delay(true), ignored);
  const int silence_s = static_cast<int>(settings.tcp_keepalive);
  if (silence_s == 0) return;
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  socket.set_option(TcpOption<TCP_KEEPIDLE>(silence_s), ignored);
  socket.set_option(TcpOption<TCP_KEEPINTVL>(std::max(silence_s / 3, 1)), ignored);
  socket.set_option(TcpOption<TCP_KEEPCNT>(kUnansweredProbes), ignored);
}

bool UsesTls(const Settings& settings) {
  return settings.tls_port != 0 || settings.tls_replication || settings.tls_cluster;
}

// Whether the address does not exist on this machine, as opposed to being in use.
bool IsMissing(const error_code& error) {
  return error == boost::system::errc::address_not_available ||
         error == boost::system::errc::address_family_not_supported;
}

// Restores the default effect of SIGTERM and SIGINT during its lifetime.
class DefaultSignals {
 public:
  DefaultSignals() {
    struct sigaction by_default {};
    by_default.sa_handler = SIG_DFL;
    for (size_t i = 0; i < std::size(kSignals); ++i) {
      ::sigaction(kSignals[i], &by_default, &before_[i]);
    }
  }
  DefaultSignals(const DefaultSignals&) = delete;
  ~DefaultSignals() {
    for (size_t i = 0; i < std::size(kSignals); ++i) {
      ::sigaction(kSignals[i], &before_[i], nullptr);
    }
  }

 private:
  static constexpr int kSignals[] = {SIGTERM, SIGINT};
  struct sigaction before_[std::size(kSignals)];
};

}  // namespace

Server::Server(asio::io_context& io, Engine& engine, SpdlogLog& log, const WakeSignal& log_signal)
    : io_(io),
      engine_(engine),
      log_(log),
      ticker_(engine),
      main_(0, engine, gate_, [this](Micros now) { PlanUpkeep(now); }),
      connector_(main_.poller(), engine.settings()),
      held_replies_(std::make_shared<HeldReplies>(main_.poller(), log_signal)),
      posted_steps_(std::make_shared<PostedSteps>(main_.poller())),
      signals_(io, SIGTERM, SIGINT, SIGHUP),
      grace_(io),
      installation_(engine.services().network.Install(*this)) {
  held_replies_->Start();
  posted_steps_->Start();
  for (int i = 1; i < engine.settings().io_threads; ++i) {
    others_.push_back(
        std::make_unique<IoThread>(i, engine, gate_, [this](Micros) { WakeMainIfDue(); }));
  }
}

absl::Status Server::Listen() {
  const Settings& settings = engine_.settings();
  absl::Status status = ApplyTls(settings);
  if (status.ok()) status = ListenAtPath();
  if (status.ok()) status = ListenAt(AddressesOf(settings));
  if (!status.ok()) return status;
  if (listeners_.empty() && unix_listener_ == nullptr) {
    return Refusal("bind: there is no address to listen on");
  }
  is_listening_ = true;
  AwaitSignal();
  return absl::OkStatus();
}

absl::Status Server::Apply(const Settings& settings) {
  const TlsInUse before = tls_;
  if (const absl::Status status = ApplyTls(settings); !status.ok()) {
    log_.Write(LogLevel::kWarning,
               "Cannot reload the TLS settings: " + std::string(ErrorLine(status)));
    return Refusal("Unable to update TLS configuration. Check server logs.");
  }
  const absl::Status status = ApplyAddresses(settings);
  if (!status.ok()) tls_ = before;
  return status;
}

// Connections that the server opens read the settings when they open. Their files are read here, so
// that an error is reported when they are set.
absl::Status Server::ApplyTls(const Settings& settings) {
  const Settings& before = engine_.settings();
  const bool is_same = UsesTls(before) && SameTls(settings, before) &&
                       settings.tls_replication == before.tls_replication &&
                       settings.tls_cluster == before.tls_cluster;
  if (UsesTls(settings) && !(is_same && is_listening_)) {
    if (absl::Status status = CheckTlsClientFiles(settings); !status.ok()) return status;
  }
  if (settings.tls_port == 0 && !settings.tls_cluster) return CheckTls(settings);
  if (tls_.IsOf(settings)) return absl::OkStatus();
  const bool undoes = tls_before_.IsOf(settings) && SameTls(settings, before);
  if (undoes) {  // The files are not read again: they may have changed.
    std::swap(tls_, tls_before_);
    return absl::OkStatus();
  }
  TlsInUse next{.context = nullptr, .settings = std::make_shared<const Settings>(settings)};
  if (absl::Status status = MakeTlsContext(settings, next.context); !status.ok()) return status;
  tls_before_ = std::exchange(tls_, std::move(next));
  return absl::OkStatus();
}

bool Server::TlsInUse::IsOf(const Settings& other) const {
  return settings != nullptr && SameTls(*settings, other);
}

// If the engine's settings have these addresses already, as many of them as possible are opened,
// and the error is only logged: a later change of another setting must not fail because of them.
absl::Status Server::ApplyAddresses(const Settings& settings) {
  const std::vector<ListenAddress> wanted = AddressesOf(settings);
  if (wanted == addresses_) return absl::OkStatus();
  const std::vector<ListenAddress> before = addresses_;
  const absl::Status status = ListenAt(wanted);
  if (status.ok()) return status;
  log_.Write(LogLevel::kWarning, ErrorLine(status));
  if (wanted == AddressesOf(engine_.settings())) return absl::OkStatus();
  const absl::Status restored = ListenAt(before);
  if (!restored.ok()) log_.Write(LogLevel::kWarning, ErrorLine(restored));
  const bool other_addresses = settings.bind != engine_.settings().bind;
  return Refusal(other_addresses ? "Failed to bind to specified addresses."
                                 : "Unable to listen on this port. Check server logs.");
}

// The plain port is last, so a client that can connect to it can connect to all other ports.
std::vector<Server::ListenAddress> Server::AddressesOf(const Settings& settings) {
  std::vector<ListenAddress> result;
  std::istringstream addresses(settings.bind);
  for (std::string address; addresses >> address;) {
    if (settings.tls_port != 0) result.push_back({address, settings.tls_port, true});
    if (settings.port != 0) result.push_back({address, settings.port, false});
  }
  return result;
}

// Keeps unchanged listeners. Closes removed listeners first: 0.0.0.0 overlaps with any single
// address. Existing connections stay. Opens the other addresses even if one fails, and returns the
// first error.
absl::Status Server::ListenAt(const std::vector<ListenAddress>& addresses) {
  std::erase_if(listeners_, [&](const OpenListener& open) {
    const bool stays = std::ranges::count(addresses, open.address) > 0;
    if (!stays) open.listener->Stop();
    return !stays;
  });
  absl::Status status;
  std::vector<ListenAddress> failed;
  for (const ListenAddress& address : addresses) {
    const bool is_open = std::ranges::count(listeners_, address, &OpenListener::address) > 0;
    if (is_open) continue;
    auto opened = Open(address, ToClients(address.with_tls));
    if (opened.ok() && *opened != nullptr) {
      listeners_.push_back({address, *std::move(opened)});
    }
    if (!opened.ok()) failed.push_back(address);
    status.Update(opened.status());
  }
  addresses_ = addresses;
  std::erase_if(addresses_,
                [&](const ListenAddress& each) { return std::ranges::count(failed, each) > 0; });
  return status;
}

std::function<void(StreamSocket)> Server::ToClients(bool with_tls) {
  return [this, with_tls](StreamSocket socket) { OnConnection(std::move(socket), with_tls); };
}

// Returns null if the address is optional and this machine does not have it.
absl::StatusOr<std::shared_ptr<Listener>> Server::Open(
    const ListenAddress& where, std::function<void(StreamSocket)> on_connection) {
  std::string_view text = where.address;
  const bool optional = text.starts_with('-');
  if (optional) text.remove_prefix(1);
  const std::string name(text == "*" ? "0.0.0.0" : text == "::*" ? "::" : text);
  assert(0 < where.port && where.port <= kMaxPort);
  const auto port = static_cast<uint16_t>(where.port);
  error_code error;
  const auto address = asio::ip::make_address(name, error);
  if (error) return Refusal("bind: " + name + " is not an address");
  auto listener = std::make_shared<Listener>(io_, main_.poller(), log_, std::move(on_connection));
  error = listener->Listen(tcp::endpoint(address, port),
                           static_cast<int>(engine_.settings().tcp_backlog));
  if (optional && IsMissing(error)) return nullptr;
  if (!error) return listener;
  const bool in_use = error == boost::system::errc::address_in_use;
  return Refusal("Cannot listen on " + name + " port " + std::to_string(port) + ": " +
                 error.message() +
                 (in_use ? ". Another program uses it, perhaps redis-server. Stop it, or "
                           "choose another --port"
                         : ""));
}

absl::Status Server::ListenForPeers(int64_t port, PeerPort::OnPeer on_peer) {
  const Settings& settings = engine_.settings();
  if (absl::Status status = ApplyTls(settings); !status.ok()) return status;
  std::istringstream addresses(settings.bind);
  for (std::string address; addresses >> address;) {
    auto opened =
        Open({.address = address, .port = port, .with_tls = false},
             [this, on_peer](StreamSocket socket) { OnPeer(std::move(socket), on_peer); });
    if (!opened.ok()) return opened.status();
    if (*opened != nullptr) peer_listeners_.push_back(*std::move(opened));
  }
  return peer_listeners_.empty() ? Refusal("bind: there is no address for the cluster bus")
                                 : absl::OkStatus();
}

absl::Status Server::ListenAtPath() {
  const Settings& settings = engine_.settings();
  if (settings.unixsocket.empty()) return absl::OkStatus();
  auto listener = std::make_shared<Listener>(io_, main_.poller(), log_, ToClients(false));
  const error_code error =
      listener->ListenAt(settings.unixsocket, static_cast<mode_t>(settings.unixsocketperm),
                         static_cast<int>(settings.tcp_backlog));
  if (error) return Refusal("Cannot listen on " + settings.unixsocket + ": " + error.message());
  unix_listener_ = std::move(listener);
  return absl::OkStatus();
}

void Server::OnConnection(StreamSocket socket, bool with_tls) {
  if (Connections() >= static_cast<size_t>(engine_.settings().maxclients)) {
    return Reject(socket, with_tls,
                  engine_.settings().cluster_enabled
                      ? "-ERR max number of clients + cluster connections reached\r\n"
                      : "-ERR max number of clients reached\r\n");
  }
  if (IsProtectedFrom(socket)) return Reject(socket, with_tls, kDenied);
  Prepare(socket, engine_.settings());
  IoThread& thread = LeastLoaded();
  auto session = std::make_shared<Session>(
      std::move(socket), with_tls ? std::make_unique<Tls>(tls_.context) : nullptr,
      port_.NextClientId(), port_.now(), thread, log_, *held_replies_,
      [this](Session& ended) { OnEnd(ended); });
  sessions_.insert(session);
  thread.AddConnection();
  session->Start(port_);
  if (with_tls) thread.handshakes().Add(session->client_id(), *session, MonotonicNow());
}

// The connections that count for `maxclients`, so that clients use no descriptors that the server
// needs. Up to kFewCloses connections that have ended but are not closed do not count: they usually
// close soon, and a client may connect as soon as another one has ended.
size_t Server::Connections() const {
  size_t closes = main_.closes().count();
  for (const auto& thread : others_) closes += thread->closes().count();
  const size_t count = engine_.clients().all().size() + closes - std::min(closes, kFewCloses);
  if (!engine_.settings().cluster_enabled) return count;
  return count + engine_.services().cluster->CountedConnections();
}

// TLS may be turned on and off for new connections.
void Server::OnPeer(StreamSocket socket, const PeerPort::OnPeer& on_peer) {
  const bool with_tls = engine_.settings().tls_cluster;
  std::unique_ptr<Tls> tls;
  if (with_tls) tls = std::make_unique<Tls>(tls_.context);
  on_peer([&](Connection::Owner& owner) {
    return AcceptConnection(main_.poller(), engine_.settings(), Socket(std::move(socket)),
                            std::move(tls), owner);
  });
}

// Prefers the others, because the main thread has more to do.
IoThread& Server::LeastLoaded() {
  IoThread* least = &main_;
  for (const auto& thread : others_) {
    if (thread->connections() <= least->connections()) least = thread.get();
  }
  return *least;
}

// Without a password, only clients on this machine are accepted (protected-mode).
bool Server::IsProtectedFrom(const StreamSocket& socket) const {
  const User& user = engine_.access().users().default_user();
  if (!engine_.settings().protected_mode || !user.takes_any_password()) return false;
  error_code error;  // set if the connection has already broken
  const StreamEndpoint peer = socket.remote_endpoint(error);
  return !error && !IsLocal(peer);
}

// With TLS the reason cannot be sent, because the handshake has not happened.
void Server::Reject(StreamSocket& socket, bool with_tls, std::string_view reason) {
  error_code ignored;
  if (!with_tls) socket.write_some(asio::buffer(reason), ignored);
  ++engine_.metrics().stats().connections_rejected;
}

void Server::OnEnd(Session& session) {
  gate_.lock().AssertAlone();
  session.thread().RemoveConnection();
  session.thread().handshakes().Remove(session.client_id());
  sessions_.erase(session.shared_from_this());
  if (stopping_) gate_.SendOnLeaving(main_.poller().signal());  // it may have been the last one
}

void Server::AwaitSignal() {
  signals_.async_wait([this](const error_code& error, int signal) {
    if (error) return;
    AwaitSignal();
    if (signal == SIGHUP) return ReopenLog();
    log_.Write(LogLevel::kNotice, "Received signal " + std::to_string(signal) + ", shutting down");
    OnTermination(signal);
  });
}

// A snapshot never contains half of a script's changes, so a suspended script must end or be killed
// first. After a second signal the server does not wait for the script and saves nothing.
void Server::OnTermination(int signal) {
  if (stopping_) return AskToStop();
  Shutdown& shutdown = engine_.shutdown();
  if (shutdown.state() == Shutdown::State::kReplicas) return OnRepeatedTermination(signal);
  const Settings& settings = engine_.settings();
  ShutdownOptions options =
      signal == SIGINT ? settings.shutdown_on_sigint : settings.shutdown_on_sigterm;
  const LogStatus log = engine_.services().append_log->log_status();
  const bool lacks_base = log.enabled && !log.has_base;  // it may have to begin first
  const bool saves = !options.nosave && (options.save || settings.save.Any() || lacks_base);
  if (saves && !engine_.mode().IsBetweenUnits()) {
    if (shutdown.state() != Shutdown::State::kScript) {
      log_.Write(LogLevel::kWarning,
                 "A script is running. When it ends, the server saves its data and stops.");
      return shutdown.StartAfterScript(options);
    }
    options.save = false;
    options.nosave = true;
  }
  const DefaultSignals end_at_once;  // another signal during the save ends the process
  (void)shutdown.Start(options);
}

// Supervisors may repeat SIGTERM, so it does not end the wait. A user who repeats Ctrl+C wants to
// stop immediately, as in Redis.
void Server::OnRepeatedTermination(int signal) {
  if (signal != SIGINT) {
    return log_.Write(
        LogLevel::kWarning,
        "Still waiting for replicas before shutting down. SHUTDOWN NOW or SIGINT ends the wait.");
  }
  log_.Write(LogLevel::kWarning, "You insist... exiting now.");
  was_cut_short_ = true;
}

void Server::ReopenLog() {
  const absl::Status status = log_.ReopenFile(engine_.settings().logfile);
  if (!status.ok()) return log_.Write(LogLevel::kWarning, ErrorLine(status));
  log_.Write(LogLevel::kNotice, "Received SIGHUP, opened the log file again");
}

void Server::ContinueShutdown() {
  if (!engine_.shutdown().IsDue()) return;
  const DefaultSignals end_at_once;
  engine_.shutdown().Continue();
}

// Upkeep takes a turn of its own with the engine, so it is done only when it is due. The thread's
// last turn with the engine has planned when that is.
absl::Status Server::Run() {
  if (absl::Status started = StartThreads(); !started.ok()) return started;
  Micros now = main_.round_ended();
  while (!is_done_) {
    const Micros wait = std::min(upkeep_at_ - now, longest_wait_);
    const bool interrupted = !main_.RunRound(std::max(wait, Micros(0)));
    now = main_.round_ended();
    const bool is_due = needs_upkeep_ || now >= upkeep_at_ || now >= next_turn_;
    if (interrupted || is_due) {
      DoUpkeep(interrupted);
      now = MonotonicNow();  // upkeep takes time, and the next may be due immediately
    }
  }
  StopThreads();
  return absl::OkStatus();
}

// After an error no thread runs.
absl::Status Server::StartThreads() {
  for (const auto& thread : others_) {
    absl::Status started = thread->Start();
    if (started.ok()) continue;
    StopThreads();
    return started;
  }
  return absl::OkStatus();
}

void Server::StopThreads() {
  for (const auto& thread : others_) thread->Stop();
}

// Asio handles signals, and timers that may be 0.1 s late. It gets a turn ten times a second, and
// immediately after a signal interrupts the wait for connections.
void Server::DoUpkeep(bool interrupted) {
  main_.Enter();
  gate_.lock().AssertAlone();
  const Micros now = gate_.lock().locked_at();
  ticker_.TickIfDue(now);
  if (interrupted || now >= next_turn_) {
    io_.poll();
    next_turn_ = now + LongestWait();
  }
  ContinueShutdown();
  if (asked_to_stop_ > 0) Stop();
  FinishReplicas();
  is_done_ = IsDone(now);
  main_.Leave();
}

// Called at the end of each turn of the main thread.
void Server::PlanUpkeep(Micros now) {
  longest_wait_ = LongestWait();
  needs_upkeep_ = stopping_ || HasShutdownWork();
  upkeep_at_ = now + ticker_.TimeLeft(now);
}

// Called at the end of each turn of another thread.
void Server::WakeMainIfDue() {
  gate_.lock().AssertAlone();
  const bool has_shutdown_work = !stopping_ && HasShutdownWork();
  if (ticker_.HasEarlierDeadline() || has_shutdown_work) {
    gate_.SendOnLeaving(main_.poller().signal());
  }
}

bool Server::HasShutdownWork() const { return asked_to_stop_ > 0 || engine_.shutdown().IsDue(); }

NetworkStatus Server::network_status() const {
  gate_.lock().AssertAlone();
  NetworkStatus status;
  status.threads.push_back(main_.Status());
  for (const auto& thread : others_) status.threads.push_back(thread->Status());
  const EngineLock::Stats& lock = gate_.lock().stats();
  status.lock = {.held = lock.held,
                 .waited = lock.waited,
                 .waits = lock.waits,
                 .longest_hold = lock.longest_hold,
                 .longest_wait = lock.longest_wait,
                 .wait_p999 = lock.wait_times.Percentile(99.9)};
  status.shared = main_.SharedStatus();
  for (const auto& thread : others_) status.shared.Add(thread->SharedStatus());
  return status;
}

void Server::ResetStats() {
  gate_.lock().AssertAlone();
  main_.ResetStats();
  for (const auto& thread : others_) thread->ResetStats();
  gate_.lock().ResetStats();
}

// At the end the server waits for events that do not wake the poller, so its turns are shorter.
Micros Server::LongestWait() const { return stopping_ && sessions_.empty() ? kLastTurn : kTurn; }

void Server::Stop() {
  if (std::exchange(stopping_, true)) return;
  for (const OpenListener& open : listeners_) open.listener->Stop();
  for (const auto& listener : peer_listeners_) listener->Stop();
  if (unix_listener_ != nullptr) unix_listener_->Stop();
  for (const auto& session : sessions_) {
    if (!session->IsReplica()) session->Finish();
  }
  SetPatience(GraceForClients());
  grace_.expires_after(GraceForClients());
  grace_.async_wait([this](const error_code& error) {
    if (!error) AbandonSessions();
  });
}

// The rest of `shutdown-timeout`, but at least one second if the wait for replicas used nearly all
// of it.
Millis Server::GraceForClients() const {
  const Millis all = std::chrono::seconds(engine_.settings().shutdown_timeout);
  const Millis least = std::min<Millis>(all, kGraceForReplicas);
  return std::max(all - engine_.shutdown().waited(), least);
}

void Server::SetPatience(Millis patience) {
  main_.closes().set_patience(patience);
  for (const auto& thread : others_) thread->closes().set_patience(patience);
}

void Server::AbandonSessions() {
  for (const auto& session : sessions_) {
    if (replicas_finish_ || !session->IsReplica()) session->Abandon();
  }
}

// Sends the changes of the clients' last requests to the replicas. A replica that does not receive
// them has already been waited for.
void Server::FinishReplicas() {
  const auto is_replica = [](const auto& session) { return session->IsReplica(); };
  if (!stopping_ || replicas_finish_ || !std::ranges::all_of(sessions_, is_replica)) return;
  replicas_finish_ = true;
  if (sessions_.empty()) return;
  for (const auto& session : sessions_) session->Finish();
  SetPatience(kGraceForReplicas);
  grace_.expires_after(kGraceForReplicas);
  grace_.async_wait([this](const error_code& error) {
    if (!error) AbandonSessions();
  });
}

// Waits until the other sides' systems have acknowledged everything. Does not wait for clients that
// have received everything but do not close.
bool Server::IsDone(Micros now) const {
  if (was_cut_short_) return true;
  if (!stopping_) return false;
  if (asked_to_stop_ > 1) return true;
  if (!sessions_.empty() || !main_.closes().AreSettled(now)) return false;
  return std::ranges::all_of(
      others_, [now](const auto& thread) { return thread->closes().AreSettled(now); });
}

}  // namespace zsetd
