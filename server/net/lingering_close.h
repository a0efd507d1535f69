#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "server/net/poller.h"
#include "server/net/socket.h"

namespace zsetd {

// Closes a connection so that the other side receives everything that was sent. Linux resets one
// that is closed while input is unread, and output that is still in transit may then be lost. So
// only our half is closed at first, and input is discarded until the other side closes its own; for
// at most a second and 16 MB. The socket must not be registered with the poller any more.
void HangUp(Socket socket, Poller& poller, const boost::asio::any_io_executor& executor);

}  // namespace zsetd
