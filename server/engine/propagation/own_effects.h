// Effects that only zsetd understands, on a way that every server takes.
//
//   ECHO "\0zsetd*5\r\n$10\r\nZPEXPIREAT\r\n..."
//
// Redis and Valkey run an ECHO from their log or their master, ignore its reply and count its
// bytes, so that what they keep is right but for what they cannot keep, and offsets agree. zsetd
// runs the request inside. A client cannot forge one: ECHO is no write, so a client's is never
// propagated.
#pragma once

#include <optional>
#include <string>

#include "protocol/resp/args.h"
#include "server/engine/client/owned_args.h"

namespace zsetd {

// The argument of the ECHO that carries the request.
std::string WrapOwnEffect(Args request);

// Whether the request is such an ECHO.
bool IsOwnEffect(Args request);

// What it carries; nothing if that is no request, or itself such an ECHO.
std::optional<OwnedArgs> UnwrapOwnEffect(Args request);

}  // namespace zsetd
