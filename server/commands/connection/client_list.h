#pragma once

#include "server/engine/admin_call.h"

namespace zsetd {

// The types of clients in CLIENT LIST and CLIENT KILL.
enum class ClientKind { kNormal, kPubSub, kReplica, kMaster };

ClientKind KindOf(const Client& client);

// The client of the link to the master; null without a link.
const Client* MasterClient(const Engine& engine);

// Takes the next argument as a kind, ignoring case.
ClientKind TakeClientKind(ArgReader& args);

// CLIENT LIST, CLIENT INFO.
void ClientList(AdminCall& call);
void ClientInfo(AdminCall& call);

}  // namespace zsetd
