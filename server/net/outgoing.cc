#include "server/net/outgoing.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <span>
#include <system_error>
#include <utility>

#include "server/engine/support/errors.h"
#include "server/net/socket/stream_socket.h"
#include "server/net/socket/tls_context.h"

namespace zsetd {
namespace {

constexpr size_t kPiecesAtOnce = 64;

std::string ErrorText(int error) { return std::system_category().message(error); }

void SetOption(int descriptor, int level, int name, int value) {
  (void)::setsockopt(descriptor, level, name, &value, sizeof(value));  // errors do no harm
}

// Sets the same options as for clients' connections, to detect a peer that disappears without
// closing.
void PrepareSocket(int descriptor, const Settings& settings) {
  SetOption(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
  const int silence_s = static_cast<int>(settings.tcp_keepalive);
  if (silence_s == 0) return;
  SetOption(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
  SetOption(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, silence_s);
  SetOption(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, std::max(silence_s / 3, 1));
  SetOption(descriptor, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

// Returns the address that `ask`, which is getpeername() or getsockname(), reports; empty on an
// error.
std::string AddressOf(int descriptor, int (*ask)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage address;
  socklen_t size = sizeof(address);
  if (ask(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "";
  return AddressText(StreamEndpoint(&address, size));
}

// The owner's handle.
class Handle : public Connection {
 public:
  explicit Handle(std::shared_ptr<Outgoing> outgoing) : outgoing_(std::move(outgoing)) {}
  ~Handle() override { outgoing_->Close(); }
  Endpoints endpoints() const override { return outgoing_->endpoints(); }
  OutputBuffer& output() override { return outgoing_->output(); }
  void Send() override { outgoing_->WakeToSend(); }
  size_t unsent_bytes() const override { return outgoing_->unsent_bytes(); }
  void set_receives(bool receives) override { outgoing_->set_receives(receives); }

 private:
  std::shared_ptr<Outgoing> outgoing_;
};

}  // namespace

Outgoing::Outgoing(Poller& poller, const Settings& settings, std::unique_ptr<Tls> tls,
                   Connection::Owner& owner)
    : poller_(poller), settings_(settings), tls_(std::move(tls)), owner_(&owner) {}

void Outgoing::Start(const Connector::Target& target) {
  assert(state_ == State::kNew);
  target_ = target;
  if (poller_.IsOwn()) return BeginLookup();
  poller_.Wake(*this);
}

void Outgoing::BeginLookup() {
  state_ = State::kLookup;
  try {
    lookup_ = std::make_unique<NameLookup>(target_.host, target_.port);
  } catch (const std::system_error& error) {
    return StartFailed(error.what());
  }
  if (lookup_->done()) return poller_.Wake(*this);
  if (!poller_.Watch(lookup_->descriptor(), *this, {.reads = true})) {
    StartFailed("the system has no memory for a connection");
  }
}

void Outgoing::StartAccepted(Socket socket, size_t read_bytes) {
  assert(state_ == State::kNew && poller_.IsOwn());
  socket_ = std::move(socket);
  PrepareSocket(socket_.descriptor(), settings_);
  arrived_.resize(read_bytes);
  state_ = State::kHandshake;
  poller_.Wake(*this);
}

void Outgoing::StartFailed(std::string reason) { End(std::move(reason)); }

// If an event is on its way to the poller's thread, this object must exist until it is received.
void Outgoing::Close() {
  owner_ = nullptr;
  if (!poller_.IsOwn()) poller_.Wake(*this);
  if (state_ == State::kLookup && lookup_ != nullptr) poller_.Forget(lookup_->descriptor(), *this);
  state_ = State::kClosed;
  lookup_.reset();
  socket_.Close();
}

Connection::Endpoints Outgoing::endpoints() const {
  return {.address = AddressOf(socket_.descriptor(), ::getpeername),
          .local_address = AddressOf(socket_.descriptor(), ::getsockname),
          .descriptor = socket_.descriptor()};
}

void Outgoing::WakeToSend() {
  if (state_ == State::kOpen) poller_.Wake(*this);
}

void Outgoing::set_receives(bool receives) {
  if (std::exchange(receives_, receives) == receives || state_ != State::kOpen) return;
  poller_.Wake(*this);
}

bool Outgoing::MayRead() const {
  if (tls_ && tls_->HoldsMuchOutput()) return false;
  return receives_ || state_ == State::kHandshake;
}

void Outgoing::Read() {
  if (state_ != State::kOpen && state_ != State::kHandshake) return;
  const bool reads = MayRead();
  if (!reads && has_broken()) return End("the connection has broken");
  if (!reads || !end_reason_.empty() || arrived_size_ > 0) return;
  const auto [state, count] =
      socket_.Read(tls_ ? tls_->Space() : std::span(arrived_.data(), arrived_.size()));
  if (state == Socket::State::kBroken) return End("the connection has broken");
  if (state == Socket::State::kEnded) return End("the other side has closed the connection");
  if (count == 0) return;
  if (tls_) {
    tls_->Arrived(count);
  } else {
    arrived_size_ = count;
  }
}

void Outgoing::Serve() {
  if (state_ == State::kNew && end_reason_.empty()) BeginLookup();
  Read();
  if (state_ == State::kLookup && lookup_ != nullptr && lookup_->done()) {
    poller_.Forget(lookup_->descriptor(), *this);
    if (lookup_->addresses().empty()) End(lookup_->error());
    if (end_reason_.empty()) TryNext({});
  } else if (state_ == State::kConnecting) {
    FinishConnecting();
  }
  if (state_ == State::kHandshake || state_ == State::kOpen) Deliver();
  if (end_reason_.empty() || owner_ == nullptr) return;
  Connection::Owner* const owner = owner_;
  const std::string reason = end_reason_;
  Close();
  owner->OnConnectionEnd(reason);
}

// If all addresses fail, the last error is reported.
void Outgoing::TryNext(std::string reason) {
  assert(lookup_ != nullptr);
  while (tried_ < lookup_->addresses().size()) {
    if (TryAddress(lookup_->addresses()[tried_++], reason)) return;
  }
  End(std::move(reason));
}

bool Outgoing::TryAddress(const NetworkAddress& address, std::string& reason) {
  socket_.Close();
  const int family = address.bytes.ss_family;
  const int descriptor = ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) {
    reason = ErrorText(errno);
    return false;
  }
  socket_ = Socket(descriptor);
  PrepareSocket(descriptor, settings_);
  const auto* bytes = reinterpret_cast<const sockaddr*>(&address.bytes);
  if (::connect(descriptor, bytes, address.size) != 0 && errno != EINPROGRESS) {
    reason = ErrorText(errno);
    return false;
  }
  state_ = State::kConnecting;
  if (poller_.Watch(descriptor, *this, {.writes = true})) return true;
  reason = "the system has no memory for a connection";
  return false;
}

// Called when the socket is writable or has broken, which ends the attempt to connect.
void Outgoing::FinishConnecting() {
  sockaddr_storage peer;
  socklen_t peer_size = sizeof(peer);
  int error = 0;
  socklen_t size = sizeof(error);
  (void)::getsockopt(socket_.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) {
    poller_.Forget(socket_.descriptor(), *this);
    return TryNext(ErrorText(error));
  }
  if (::getpeername(socket_.descriptor(), reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0) {
    return;  // still connecting: the round had another cause
  }
  lookup_.reset();
  arrived_.resize(target_.read_bytes);
  state_ = State::kHandshake;
}

void Outgoing::Deliver() {
  if (state_ == State::kHandshake && !ShakeHands()) return;
  if (owner_ != nullptr && tls_) return DeliverDecrypted();
  if (owner_ == nullptr || arrived_size_ == 0) return;
  const size_t size = std::exchange(arrived_size_, 0);
  owner_->OnReceived({arrived_.data(), size});
}

// Returns whether the connection is open.
bool Outgoing::ShakeHands() {
  assert(state_ == State::kHandshake);
  if (tls_) tls_->ShakeHands();
  if (tls_ && tls_->ended()) EndTls();
  if (tls_ && !tls_->CanSpeak()) return false;
  state_ = State::kOpen;
  owner_->OnConnected();
  return true;
}

void Outgoing::DeliverDecrypted() {
  assert(tls_ != nullptr);
  while (owner_ != nullptr && receives_) {
    const size_t count = tls_->Decrypt({arrived_.data(), arrived_.size()});
    if (count == 0) break;
    owner_->OnReceived({arrived_.data(), count});
  }
  if (owner_ != nullptr && tls_->ended()) EndTls();
}

void Outgoing::EndTls() {
  End(tls_->error().empty() ? "the other side has closed the connection" : "TLS: " + tls_->error());
}

void Outgoing::Collect() {
  if (state_ == State::kHandshake || state_ == State::kOpen) Flush();
  if (!end_reason_.empty() && owner_ != nullptr) return poller_.Wake(*this);
  if (state_ == State::kHandshake || state_ == State::kOpen) Await();
}

void Outgoing::NextPart() {
  assert(sending_.empty());
  if (tls_) {
    tls_->Encrypt(output_, sending_);
  } else {
    sending_.Swap(output_);
  }
}

// Whether the socket has taken a part and another one follows.
bool Outgoing::HasNextPart() const {
  if (!sending_.empty()) return false;
  if (tls_ == nullptr) return !output_.empty();
  return tls_->HasOutput() || (!output_.empty() && tls_->CanSpeak());
}

// Sends one part. The other side may read as fast as bytes are written, and the engine is used.
void Outgoing::Flush() {
  if (sending_.empty()) NextPart();
  if (sending_.empty()) return;
  std::array<std::string_view, kPiecesAtOnce> pieces;
  const auto [state, count] = socket_.Write(std::span(pieces.data(), sending_.Pieces(pieces)));
  if (state == Socket::State::kBroken) return End("the connection has broken");
  if (state == Socket::State::kDone) sending_.Drop(count);
  if (HasNextPart()) poller_.Wake(*this);
}

void Outgoing::Await() {
  const Interest interest = {.reads = MayRead(), .writes = !sending_.empty()};
  if (poller_.Watch(socket_.descriptor(), *this, interest)) return;
  End("the system has no memory for a connection");
}

// Notifies the owner in this round or in the next one.
void Outgoing::End(std::string reason) {
  if (state_ == State::kClosed || !end_reason_.empty()) return;
  end_reason_ = std::move(reason);
  poller_.Wake(*this);
}

std::unique_ptr<Connection> AcceptConnection(Poller& poller, const Settings& settings,
                                             Socket socket, std::unique_ptr<Tls> tls,
                                             Connection::Owner& owner) {
  auto outgoing = std::make_shared<Outgoing>(poller, settings, std::move(tls), owner);
  outgoing->StartAccepted(std::move(socket), Connection::kFewReadBytes);
  return std::make_unique<Handle>(std::move(outgoing));
}

std::unique_ptr<Connection> OutgoingConnector::Connect(const Target& target,
                                                       Connection::Owner& owner) {
  TlsContext context;
  absl::Status status = absl::OkStatus();
  if (target.with_tls) status = MakeTlsClientContext(settings_, context);
  auto tls = context == nullptr ? nullptr : std::make_unique<Tls>(context, Tls::Role::kClient);
  auto outgoing = std::make_shared<Outgoing>(poller_, settings_, std::move(tls), owner);
  auto handle = std::make_unique<Handle>(outgoing);
  if (status.ok()) {
    outgoing->Start(target);
  } else {
    outgoing->StartFailed(std::string(ErrorLine(status)));
  }
  return handle;
}

}  // namespace zsetd
