#include "server/commands/admin/acl_users.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace zsetd {
namespace {

void ReplyRules(ReplyWriter& reply, const AclSelector& rules) {
  reply.Bulk("commands");
  reply.Bulk(rules.CommandsText());
  reply.Bulk("keys");
  reply.Bulk(rules.KeysText());
  reply.Bulk("channels");
  reply.Bulk(rules.ChannelsText());
}

void ReplyUser(ReplyWriter& reply, const User& user) {
  reply.Map(6);
  reply.Bulk("flags");
  reply.Set(user.Flags().size());
  for (const std::string_view flag : user.Flags()) reply.Bulk(flag);
  reply.Bulk("passwords");
  reply.Array(user.password_hashes().size());
  for (const std::string& hash : user.password_hashes()) reply.Bulk(hash);
  ReplyRules(reply, user.root());
  reply.Bulk("selectors");
  reply.Array(user.selectors().size());
  for (const AclSelector& selector : user.selectors()) {
    reply.Map(3);
    ReplyRules(reply, selector);
  }
}

// Returns the command of the request. Refuses an unknown command, or a wrong number of arguments.
const Command* FindAsked(AdminCall& call, Args request) {
  const Command* command = call.engine.commands().Find(request);
  const bool is_known = command != nullptr && (command->run != nullptr || request.size() == 1);
  if (!is_known) {
    call.args.Refuse("ERR Command '" + std::string(request[0]) + "' not found");
  } else if (command->run == nullptr || !command->AcceptsCount(request.size())) {
    call.args.Refuse(WrongArity(command->name));
  }
  return command;
}

}  // namespace

// Ignores users that do not exist.
void AclDelUser(AdminCall& call) {
  const Args names = call.args.Rest();
  if (std::ranges::count(names, "default") > 0) {
    return call.Fail("ERR The 'default' user cannot be removed");
  }
  int64_t count = 0;
  for (const std::string_view name : names) count += call.engine.access().DeleteUser(name) ? 1 : 0;
  call.reply.Integer(count);
}

void AclDryRun(AdminCall& call) {
  const std::string_view name = call.args.Word();
  const User* user = call.engine.access().users().Find(name);
  if (user == nullptr) return call.Fail("ERR User '" + std::string(name) + "' not found");
  const Args request = call.args.Rest();
  const Command* command = FindAsked(call, request);
  if (call.Refused()) return;
  const std::optional<Denial> denial = user->Check(*command, request);
  if (denial) {
    call.reply.Bulk(DenialText(*denial, *user, *command, request));
  } else {
    call.reply.Ok();
  }
}

void AclGetUser(AdminCall& call) {
  const User* user = call.engine.access().users().Find(call.args.Word());
  user != nullptr ? ReplyUser(call.reply, *user) : call.reply.Null();
}

void AclList(AdminCall& call) {
  const Users::ByName& users = call.engine.access().users().all();
  call.reply.Array(users.size());
  for (const auto& [name, user] : users) call.reply.Bulk(user->Text());
}

void AclSetUser(AdminCall& call) {
  const std::string_view name = call.args.Word();
  const absl::Status status = call.engine.access().SetUser(name, call.args.Rest());
  if (!status.ok()) return call.Fail(status);
  call.reply.Ok();
}

void AclUsers(AdminCall& call) {
  const Users::ByName& users = call.engine.access().users().all();
  call.reply.Array(users.size());
  for (const auto& [name, user] : users) call.reply.Bulk(name);
}

void AclWhoAmI(AdminCall& call) { call.reply.Bulk(call.caller.user()->name()); }

}  // namespace zsetd
