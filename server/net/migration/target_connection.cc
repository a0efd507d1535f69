#include "server/net/migration/target_connection.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <climits>
#include <utility>

#include "server/engine/support/port_limit.h"
#include "server/process/clock.h"

namespace zsetd {
namespace {

using Result = TargetConnection::Result;
using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// A deadline in monotonic time.
class TimeLimit {
 public:
  explicit TimeLimit(Millis timeout) : left_at_start_(timeout), start_(MonotonicNow()) {}

  // The milliseconds that are left, at least 0, in the type that poll() takes.
  int left_ms() const {
    const auto passed = std::chrono::duration_cast<Millis>(MonotonicNow() - start_);
    const int64_t left = (left_at_start_ - passed).count();
    return static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX));
  }

 private:
  Millis left_at_start_;
  Micros start_;
};

// Waits for one of the events. Returns the events that occurred, or 0 at the deadline.
short Await(int descriptor, short events, const TimeLimit& limit) {
  pollfd polled = {.fd = descriptor, .events = events, .revents = 0};
  while (true) {
    const int count = poll(&polled, 1, limit.left_ms());
    if (count > 0) return polled.revents;
    if (count == 0) return 0;
    if (errno != EINTR) return POLLERR;
  }
}

Addresses Resolve(const std::string& host, const std::string& port) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const bool is_found = getaddrinfo(host.c_str(), port.c_str(), &hints, &found) == 0;
  return Addresses(is_found ? found : nullptr, freeaddrinfo);
}

// The port as decimal text; an invalid port becomes 0, which never accepts.
std::string PortText(std::string_view text) {
  int port = 0;
  std::from_chars(text.data(), text.data() + text.size(), port);
  return std::to_string(port >= 0 && port <= kMaxPort ? port : 0);
}

// Connects and returns the descriptor, or -1. Sets `result`.
int Connect(const addrinfo& address, const TimeLimit& limit, Result& result) {
  const int descriptor = socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  result = Result::kUnreachable;
  if (descriptor < 0) return -1;
  const bool has_begun =
      connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 || errno == EINPROGRESS;
  if (has_begun && Await(descriptor, POLLOUT, limit) != 0) {
    int error = 0;
    socklen_t size = sizeof(error);
    getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
    result = error == 0 ? Result::kDone : Result::kBroken;
  }
  if (result == Result::kDone) return descriptor;
  close(descriptor);
  return -1;
}

}  // namespace

TargetConnection::TargetConnection(int descriptor, const TlsContext& tls) : socket_(descriptor) {
  if (tls != nullptr) tls_ = std::make_unique<Tls>(tls, Tls::Role::kClient);
}

std::unique_ptr<TargetConnection> TargetConnection::Open(std::string_view host,
                                                         std::string_view port, Millis timeout,
                                                         const TlsContext& tls, Result& result) {
  const TimeLimit limit(timeout);
  const Addresses addresses = Resolve(std::string(host), PortText(port));
  result = Result::kUnreachable;
  for (const addrinfo* each = addresses.get(); each != nullptr; each = each->ai_next) {
    const int descriptor = Connect(*each, limit, result);
    if (descriptor < 0) continue;
    const int yes = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    std::unique_ptr<TargetConnection> connection(new TargetConnection(descriptor, tls));
    if (tls != nullptr) result = connection->ShakeHands(timeout);
    return result == Result::kDone ? std::move(connection) : nullptr;
  }
  return nullptr;
}

// Without the handshake the target counts as unreachable.
Result TargetConnection::ShakeHands(Millis timeout) {
  const TimeLimit limit(timeout);
  while (true) {
    tls_->ShakeHands();
    OutputBuffer plain;
    OutputBuffer wire;
    tls_->Encrypt(plain, wire);
    if (WriteBytes(wire.view(), timeout) != Result::kDone) return Result::kUnreachable;
    if (tls_->CanSpeak()) return Result::kDone;
    const bool has_arrived = !tls_->ended() && !ended_ &&
                             Await(socket_.descriptor(), POLLIN, limit) != 0 &&
                             Receive() == Result::kDone;
    if (!has_arrived) return Result::kUnreachable;
  }
}

bool TargetConnection::IsStale() const {
  return !received_.empty() || Await(socket_.descriptor(), POLLIN, TimeLimit(Millis(0))) != 0;
}

Result TargetConnection::Write(std::string_view bytes) {
  if (unsent_.size() + bytes.size() <= kPiece) {
    unsent_ += bytes;
    return Result::kDone;
  }
  const Result result = Flush();
  return result == Result::kDone ? WriteNow(bytes) : result;
}

Result TargetConnection::Flush() {
  const Result result = WriteNow(unsent_);
  unsent_.clear();
  return result;
}

Result TargetConnection::WriteNow(std::string_view bytes) {
  Result result = Result::kDone;
  for (; !bytes.empty() && result == Result::kDone;
       bytes.remove_prefix(std::min(kPiece, bytes.size()))) {
    result = WritePiece(bytes.substr(0, kPiece));
  }
  return result;
}

Result TargetConnection::WritePiece(std::string_view piece) {
  if (tls_ == nullptr) return WriteBytes(piece, timeout_);
  OutputBuffer plain;
  OutputBuffer wire;
  plain.Append(piece);
  tls_->Encrypt(plain, wire);
  return WriteBytes(wire.view(), timeout_);
}

Result TargetConnection::WriteBytes(std::string_view piece, Millis timeout) {
  const TimeLimit limit(timeout);
  while (!piece.empty()) {
    const short wanted = ended_ ? POLLOUT : POLLOUT | POLLIN;
    const short events = Await(socket_.descriptor(), wanted, limit);
    if (events == 0) return Result::kTimedOut;
    if ((events & POLLIN) != 0 && Receive() == Result::kBroken) return Result::kBroken;
    if ((events & (POLLOUT | POLLERR | POLLHUP)) == 0) continue;
    const Socket::Result written = socket_.Write(piece);
    if (written.state == Socket::State::kBroken) return Result::kBroken;
    piece.remove_prefix(written.count);
  }
  return Result::kDone;
}

// Reads the bytes that have arrived.
Result TargetConnection::Receive() {
  std::array<char, 16 << 10> space;
  const Socket::Result read =
      socket_.Read(tls_ == nullptr ? std::span<char>(space) : tls_->Space());
  if (read.state == Socket::State::kBroken) return Result::kBroken;
  if (read.state == Socket::State::kEnded) ended_ = true;
  if (taken_ > received_.size() / 2) received_.erase(0, std::exchange(taken_, 0));
  if (tls_ == nullptr) {
    received_.append(space.data(), read.count);
  } else {
    Decrypt(read.count);
  }
  return received_.size() - taken_ > kMostReceived ? Result::kBroken : Result::kDone;
}

void TargetConnection::Decrypt(size_t count) {
  tls_->Arrived(count);
  std::array<char, 16 << 10> space;
  while (const size_t decrypted = tls_->Decrypt(space)) {
    received_.append(space.data(), decrypted);
  }
  if (tls_->ended()) ended_ = true;
}

Result TargetConnection::ReadLine(std::string& line) {
  const TimeLimit limit(timeout_);
  while (!HasLine()) {
    if (ended_) return Result::kBroken;
    if (Await(socket_.descriptor(), POLLIN, limit) == 0) return Result::kTimedOut;
    if (Receive() == Result::kBroken) return Result::kBroken;
  }
  const size_t end = received_.find('\n', taken_);
  line.assign(received_, taken_, end - taken_);
  if (line.ends_with('\r')) line.pop_back();
  taken_ = end + 1;
  if (taken_ == received_.size()) {
    received_.clear();
    taken_ = 0;
  }
  return Result::kDone;
}

}  // namespace zsetd
