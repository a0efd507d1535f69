#pragma once

#include "server/engine/admin_call.h"

namespace zsetd {

// The types of clients in CLIENT LIST and CLIENT KILL.
enum class ClientKind { kNormal, kPubSub, kReplica, kMaster };

ClientKind KindOf(const Client& client);

// The link to the master of this server, which is listed as a client; null without a link.
const Client* MasterClient(const Engine& engine);

// Takes the next argument as a kind, in any case.
ClientKind TakeClientKind(ArgReader& args);

// CLIENT LIST, CLIENT INFO.
void ClientList(AdminCall& call);
void ClientInfo(AdminCall& call);

}  // namespace zsetd
