#pragma once

#include "server/net/socket.h"

namespace zsetd {

// Closes a connection so that the other side gets all that it was sent. Linux resets one that is
// closed before all that comes is read, and what is still on its way may then be lost. So only our
// half is closed at first, and what comes is thrown away until the other side closes its own; for a
// second and 16 MB at most. No poller is to wait for the socket any more.
void HangUp(Socket socket, const StreamSocket::executor_type& executor);

}  // namespace zsetd
