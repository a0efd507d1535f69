#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <string>

namespace zsetd {

// A TCP or Unix socket connection. Both are read and written in the same way.
using StreamProtocol = boost::asio::generic::stream_protocol;
using StreamSocket = StreamProtocol::socket;
using StreamEndpoint = StreamProtocol::endpoint;
using StreamAcceptor = boost::asio::basic_socket_acceptor<StreamProtocol>;

bool IsUnix(const StreamEndpoint& endpoint);

// "127.0.0.1:6379", "[::1]:6379"; for a Unix socket its path and :0, as in Redis.
std::string AddressText(const StreamEndpoint& endpoint);

// Whether the other side is on this machine.
bool IsLocal(const StreamEndpoint& endpoint);

}  // namespace zsetd
