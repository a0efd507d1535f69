#include "server/net/socket/stream_socket.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstring>

namespace zsetd {
namespace {

using Tcp = boost::asio::ip::tcp;

Tcp::endpoint TcpOf(const StreamEndpoint& endpoint) {
  Tcp::endpoint tcp;
  std::memcpy(tcp.data(), endpoint.data(), std::min(tcp.capacity(), endpoint.size()));
  return tcp;
}

// Returns the path of a Unix socket. A client's end has none.
std::string PathOf(const StreamEndpoint& endpoint) {
  constexpr size_t kStart = offsetof(sockaddr_un, sun_path);
  if (endpoint.size() <= kStart) return {};
  const auto& address = *reinterpret_cast<const sockaddr_un*>(endpoint.data());
  return {address.sun_path, strnlen(address.sun_path, endpoint.size() - kStart)};
}

}  // namespace

bool IsUnix(const StreamEndpoint& endpoint) { return endpoint.data()->sa_family == AF_UNIX; }

std::string AddressText(const StreamEndpoint& endpoint) {
  if (IsUnix(endpoint)) return PathOf(endpoint) + ":0";
  const Tcp::endpoint tcp = TcpOf(endpoint);
  const bool v6 = tcp.address().is_v6();
  const std::string address = tcp.address().to_string();
  return (v6 ? "[" + address + "]" : address) + ":" + std::to_string(tcp.port());
}

bool IsLocal(const StreamEndpoint& endpoint) {
  return IsUnix(endpoint) || TcpOf(endpoint).address().is_loopback();
}

}  // namespace zsetd
