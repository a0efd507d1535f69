#include "server/commands/connection/client_list.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "server/engine/acl/client_description.h"

namespace zsetd {
namespace {

// The clients whose ids follow, in that order; those that there are not are left out.
std::vector<const Client*> TakeClients(AdminCall& call) {
  std::vector<const Client*> found;
  while (call.args.ok() && !call.args.AtEnd()) {
    const int64_t id = call.args.Integer("ERR Invalid client ID");
    const auto client = call.engine.clients().all().find(static_cast<uint64_t>(id));
    if (client != call.engine.clients().all().end()) found.push_back(client->second);
  }
  return found;
}

std::vector<const Client*> ClientsOf(AdminCall& call, std::optional<ClientKind> kind) {
  std::vector<const Client*> found;
  for (const auto& [id, client] : call.engine.clients().all()) {
    if (!kind || KindOf(*client) == *kind) found.push_back(client);
  }
  return found;
}

}  // namespace

ClientKind KindOf(const Client& client) {
  if (client.IsReplica()) return ClientKind::kReplica;
  return client.IsSubscriber() ? ClientKind::kPubSub : ClientKind::kNormal;
}

ClientKind TakeClientKind(ArgReader& args) {
  if (args.Take("normal")) return ClientKind::kNormal;
  if (args.Take("pubsub")) return ClientKind::kPubSub;
  if (args.Take("replica") || args.Take("slave")) return ClientKind::kReplica;
  if (args.Take("master")) return ClientKind::kMaster;
  args.Refuse("ERR Unknown client type " + Quoted(args.Peek()));
  return ClientKind::kNormal;
}

void ClientList(AdminCall& call) {
  std::vector<const Client*> clients;
  if (call.args.left() == 2 && call.args.Take("type")) {
    clients = ClientsOf(call, TakeClientKind(call.args));
  } else if (call.args.left() >= 2 && call.args.Take("id")) {
    clients = TakeClients(call);
  } else {
    call.args.End();
    clients = ClientsOf(call, std::nullopt);
  }
  if (call.Refused()) return;
  std::string lines;
  for (const Client* client : clients) lines += ClientLine(*client, call.now());
  call.reply.Verbatim("txt", lines);
}

void ClientInfo(AdminCall& call) {
  call.reply.Verbatim("txt", ClientLine(call.client, call.now()));
}

}  // namespace zsetd
