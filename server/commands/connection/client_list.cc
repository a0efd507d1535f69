#include "server/commands/connection/client_list.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "server/engine/acl/client_description.h"
#include "server/engine/services/master_control.h"
#include "server/engine/services/services.h"

namespace zsetd {
namespace {

const Client* FindClient(const Engine& engine, uint64_t id) {
  const Client* const master = MasterClient(engine);
  if (master != nullptr && master->id == id) return master;
  const auto found = engine.clients().all().find(id);
  return found == engine.clients().all().end() ? nullptr : found->second;
}

// Takes the remaining arguments as client IDs. Returns the clients in that order, without those
// that do not exist.
std::vector<const Client*> TakeClients(AdminCall& call) {
  std::vector<const Client*> found;
  while (call.args.ok() && !call.args.AtEnd()) {
    const int64_t id = call.args.Integer("ERR Invalid client ID");
    const Client* const client = FindClient(call.engine, static_cast<uint64_t>(id));
    if (client != nullptr) found.push_back(client);
  }
  return found;
}

// Returns the clients in the order of their age.
std::vector<const Client*> ClientsOf(const Engine& engine, std::optional<ClientKind> kind) {
  std::vector<const Client*> found;
  for (const auto& [id, client] : engine.clients().all()) found.push_back(client);
  if (const Client* const master = MasterClient(engine)) found.push_back(master);
  std::ranges::sort(found, {}, &Client::id);
  if (kind) std::erase_if(found, [&](const Client* client) { return KindOf(*client) != *kind; });
  return found;
}

}  // namespace

const Client* MasterClient(const Engine& engine) {
  return engine.services().master->master_link().client;
}

ClientKind KindOf(const Client& client) {
  if (IsMaster(client)) return ClientKind::kMaster;
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
    clients = ClientsOf(call.engine, TakeClientKind(call.args));
  } else if (call.args.left() >= 2 && call.args.Take("id")) {
    clients = TakeClients(call);
  } else {
    call.args.End();
    clients = ClientsOf(call.engine, std::nullopt);
  }
  if (call.Refused()) return;
  std::string lines;
  for (const Client* client : clients) lines += ClientLine(*client, call.now());
  call.reply.Verbatim("txt", lines);
}

void ClientInfo(AdminCall& call) {
  call.reply.Verbatim("txt", ClientLine(call.client(), call.now()));
}

}  // namespace zsetd
