#include "tests/transcript/socket_peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace zsetd {

int ConnectTo(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    close(socket);
    return -1;
  }
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return socket;
}

SocketPeer::~SocketPeer() {
  for (const auto& [client, socket] : sockets_) close(socket);
}

void SocketPeer::Send(const std::string& client, std::string_view bytes) {
  auto [at, is_new] = sockets_.try_emplace(client, -1);
  if (is_new) at->second = ConnectTo(port_);
  while (!bytes.empty()) {
    const ssize_t sent = send(at->second, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) return;  // closed by the server: Receive() reports it
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

std::string SocketPeer::Receive(const std::string& client, Millis patience) {
  const auto at = sockets_.find(client);
  if (at == sockets_.end()) return {};
  if (at->second < 0) {  // the server has ended; poll() would wait for nothing
    sockets_.erase(at);
    return {};
  }
  pollfd ready{.fd = at->second, .events = POLLIN, .revents = 0};
  const auto start = std::chrono::steady_clock::now();
  if (poll(&ready, 1, static_cast<int>(patience.count())) == 0) return {};
  NoteDelay(std::chrono::steady_clock::now() - start);
  std::string bytes(64 << 10, '\0');
  const ssize_t received = recv(at->second, bytes.data(), bytes.size(), 0);
  if (received <= 0) {
    close(at->second);
    sockets_.erase(at);
    return {};
  }
  bytes.resize(static_cast<size_t>(received));
  return bytes;
}

bool SocketPeer::Closed(const std::string& client) { return !sockets_.contains(client); }

void SocketPeer::Pass(Millis time) {
  const auto start = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(time);
  NoteDelay(std::chrono::steady_clock::now() - start - time);
}

void SocketPeer::NoteDelay(std::chrono::nanoseconds delay) {
  longest_delay_ = std::max(longest_delay_, std::chrono::ceil<Millis>(delay));
}

}  // namespace zsetd
