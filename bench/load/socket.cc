#include "bench/load/socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace zsetd {

absl::StatusOr<Socket> Socket::ConnectTo(int port) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(static_cast<uint16_t>(port))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    return absl::ErrnoToStatus(errno, "cannot connect");
  }
  const int yes = 1;
  ::setsockopt(socket.descriptor_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  return socket;
}

Socket::Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

absl::Status Socket::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) return absl::ErrnoToStatus(errno, "cannot send");
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> Socket::Receive(std::span<char> space) {
  const ssize_t received = ::recv(descriptor_, space.data(), space.size(), MSG_DONTWAIT);
  if (received > 0) return static_cast<size_t>(received);
  if (received < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (received < 0) return absl::ErrnoToStatus(errno, "cannot receive");
  return absl::UnavailableError("the server closed the connection");
}

}  // namespace zsetd
