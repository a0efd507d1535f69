// Requests that other servers do not know, in a form that every server accepts.
//
//   ECHO "\0zsetd*5\r\n$10\r\nZPEXPIREAT\r\n..."
//
// Redis and Valkey run an ECHO from their log or their master, ignore its reply and count its
// bytes, so their data is correct except for member deadlines, and offsets stay equal. zsetd runs
// the request inside. A client cannot forge one: ECHO is not a write, so a client's ECHO is never
// propagated.
//
// Such an ECHO can replace the next request of its unit: zsetd runs the request inside and leaves
// out the next one, which other servers run. Scores with a form are propagated in this way, exactly
// and as doubles:
//
//   ECHO "\0zsetd!*7\r\n$4\r\nZADD..."
//
// Deadlines of members of sorted sets always have this form. Deadlines of fields of hashes have it
// only with propagation-compatibility 7.0: Redis 7.4 and Valkey 9 know HPEXPIREAT and HPERSIST. The
// form is a setting of the server, not a property of a replica: the backlog, the log and the
// offsets are shared by all readers. Nor could a master find out: Valkey and zsetd announce their
// version (REPLCONF version), redis-server does not.
#pragma once

#include <optional>
#include <string>

#include "protocol/resp/args.h"
#include "server/engine/client/owned_args.h"

namespace zsetd {

// The argument of the ECHO that carries the request.
std::string WrapPrivateCommand(Args request);

// The argument of an ECHO that replaces the next request.
std::string WrapReplacement(Args request);

// Whether the request is such an ECHO.
bool IsPrivateCommand(Args request);

// Whether such an ECHO replaces the next request.
bool IsReplacement(Args request);

// The request inside; nullopt if it is not a request, or itself such an ECHO.
std::optional<OwnedArgs> UnwrapPrivateCommand(Args request);

}  // namespace zsetd
