#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/time.h"
#include "server/engine/call.h"

namespace zsetd {

// The kinds of clients that CLIENT LIST and CLIENT KILL tell apart. There are no others than normal
// ones and those that listen to channels until there is replication.
enum class ClientKind { kNormal, kPubSub, kReplica, kMaster };

ClientKind KindOf(const Client& client);

// Takes the next argument as a kind, in any case.
ClientKind TakeClientKind(ArgReader& args);

// What CLIENT LIST tells of one client: Redis's fields in their order, and a line feed.
std::string ClientLine(const Client& client, Millis now);

// The client that is told of changed keys in this one's place: 0 if there is none, -1 if nobody is
// told.
int64_t RedirectOf(const Client& client);

// The memory that a client takes, its buffers included.
size_t BytesUsedBy(const Client& client);

// CLIENT LIST, CLIENT INFO.
void ClientList(Call& call);
void ClientInfo(Call& call);

}  // namespace zsetd
