#pragma once

#include "server/net/socket/tls.h"
#include "server/net/socket/tls_context.h"

namespace zsetd {

// Returns the context of a server with a certificate that signs itself.
TlsContext MakeSelfSignedContext();

// Performs the handshake of both ends without a network.
void ShakeHands(Tls& client, Tls& server);

}  // namespace zsetd
