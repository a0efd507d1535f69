#pragma once

#include "server/engine/admin_call.h"

namespace zsetd {

// The types of clients in CLIENT LIST and CLIENT KILL. Without replication there are only normal
// clients and subscribers.
enum class ClientKind { kNormal, kPubSub, kReplica, kMaster };

ClientKind KindOf(const Client& client);

// Takes the next argument as a kind, in any case.
ClientKind TakeClientKind(ArgReader& args);

// CLIENT LIST, CLIENT INFO.
void ClientList(AdminCall& call);
void ClientInfo(AdminCall& call);

}  // namespace zsetd
