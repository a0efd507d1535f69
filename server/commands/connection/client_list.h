#pragma once

#include "server/engine/call.h"

namespace zsetd {

// The kinds of clients that CLIENT LIST and CLIENT KILL tell apart. There are no others than normal
// ones and those that listen to channels until there is replication.
enum class ClientKind { kNormal, kPubSub, kReplica, kMaster };

ClientKind KindOf(const Client& client);

// Takes the next argument as a kind, in any case.
ClientKind TakeClientKind(ArgReader& args);

// CLIENT LIST, CLIENT INFO.
void ClientList(Call& call);
void ClientInfo(Call& call);

}  // namespace zsetd
