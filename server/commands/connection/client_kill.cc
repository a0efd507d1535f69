#include "server/commands/connection/client_kill.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/commands/connection/client_list.h"
#include "server/engine/acl/client_description.h"
#include "server/engine/services/master_control.h"
#include "server/engine/services/services.h"

namespace zsetd {
namespace {

using std::chrono::seconds;

seconds AgeOf(const Client& client, Millis now) {
  return std::chrono::duration_cast<seconds>(now - client.connection.connected_at);
}

bool IsOf(const Client& client, std::string_view user) {
  return !IsMaster(client) && client.user()->name() == user;
}

// The filters of CLIENT KILL. A client must match all given filters.
struct KillFilter {
  std::optional<int64_t> id;
  std::optional<std::string_view> address;
  std::optional<std::string_view> local_address;
  std::optional<ClientKind> kind;
  std::optional<std::string_view> user;
  seconds least_age{0};
  bool spares_self = true;

  bool Names(const Client& client, Millis now) const {
    return (!id || client.id == static_cast<uint64_t>(*id)) &&
           (!address || client.address == *address) &&
           (!local_address || client.local_address == *local_address) &&
           (!kind || KindOf(client) == *kind) && (!user || IsOf(client, *user)) &&
           AgeOf(client, now) >= least_age;
  }
};

bool TakeYesOrNo(ArgReader& args) {
  if (args.Take("yes")) return true;
  if (!args.Take("no")) args.Refuse(kSyntaxError);
  return false;
}

int64_t TakePositive(ArgReader& args, std::string_view not_a_number, std::string_view too_small) {
  const int64_t number = args.Integer(not_a_number);
  if (number < 1) args.Refuse(too_small);
  return number;
}

void TakeFilter(ArgReader& args, KillFilter& filter) {
  constexpr std::string_view kBadId = "ERR client-id should be greater than 0";
  if (args.Take("id")) {
    filter.id = TakePositive(args, kBadId, kBadId);
  } else if (args.Take("maxage")) {
    filter.least_age = seconds(TakePositive(args, "ERR maxage is not an integer or out of range",
                                            "ERR maxage should be greater than 0"));
  } else if (args.Take("type")) {
    filter.kind = TakeClientKind(args);
  } else if (args.Take("addr")) {
    filter.address = args.Word();
  } else if (args.Take("laddr")) {
    filter.local_address = args.Word();
  } else if (args.Take("user")) {
    filter.user = args.Word();
  } else if (args.Take("skipme")) {
    filter.spares_self = TakeYesOrNo(args);
  } else {
    args.Refuse(kSyntaxError);
  }
}

KillFilter TakeFilter(ArgReader& args) {
  KillFilter filter;
  while (args.ok() && !args.AtEnd()) {
    if (args.left() < 2) args.Refuse(kSyntaxError);
    TakeFilter(args, filter);
  }
  return filter;
}

// Returns the number of killed clients.
int64_t KillAll(AdminCall& call, const KillFilter& filter) {
  std::vector<Client*> named;
  for (const auto& [id, client] : call.engine.clients().all()) {
    const bool spared = filter.spares_self && client == &call.client();
    if (!spared && filter.Names(*client, call.now())) named.push_back(client);
  }
  const Client* const master = MasterClient(call.engine);
  const bool names_master = master != nullptr && filter.Names(*master, call.now());
  for (Client* client : named) call.engine.clients().End(*client);
  if (names_master) call.engine.services().master->CloseMasterLink();
  return static_cast<int64_t>(named.size()) + (names_master ? 1 : 0);
}

void KillAddress(AdminCall& call) {
  const KillFilter filter = {.address = call.args.Word(), .spares_self = false};
  if (KillAll(call, filter) == 0) return call.Fail("ERR No such client");
  call.reply.Ok();
}

}  // namespace

void ClientKill(AdminCall& call) {
  if (call.args.left() == 1) return KillAddress(call);
  const KillFilter filter = TakeFilter(call.args);
  if (filter.user && call.engine.access().users().Find(*filter.user) == nullptr) {
    call.args.Refuse("ERR No such user " + Quoted(*filter.user));
  }
  if (call.Refused()) return;
  call.reply.Integer(KillAll(call, filter));
}

}  // namespace zsetd
