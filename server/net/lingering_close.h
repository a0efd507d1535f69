#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "server/net/poller.h"
#include "server/net/socket.h"

namespace zsetd {

// Closes a connection so that the other side gets all that it was sent. Linux resets one that is
// closed before all that comes is read, and what is still on its way may then be lost. So only our
// half is closed at first, and what comes is thrown away until the other side closes its own; for a
// second and 16 MB at most. Nobody is to wait for the socket at the poller any more.
void HangUp(Socket socket, Poller& poller, const boost::asio::any_io_executor& executor);

}  // namespace zsetd
