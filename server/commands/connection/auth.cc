#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/commands/common/reply_fields.h"
#include "server/commands/connection/client_name.h"
#include "server/commands/connection/families.h"
#include "server/engine/admin_call.h"
#include "server/engine/command/redaction.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/redis_version.h"

namespace zsetd {
namespace {

constexpr std::string_view kNoPasswordSet =
    "ERR AUTH <password> called without any password configured for the default user. Are you sure "
    "your configuration is correct?";
constexpr std::string_view kMustAuthenticate =
    "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
    "<proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP "
    "protocol version at the same time";

struct Credentials {
  std::string_view user;
  std::string_view password;
};

void Authenticate(AdminCall& call, const Credentials& given) {
  const bool accepted = call.engine.access().Authenticate(call.client(), given.user, given.password,
                                                          call.argv()[0], call.now());
  if (!accepted) call.Fail("WRONGPASS invalid username-password pair or user is disabled.");
}

void Auth(AdminCall& call) {
  const bool names_user = call.args.left() > 1;
  const std::string_view user = names_user ? call.args.Word() : "default";
  const std::string_view password = call.args.Word();
  call.args.End();
  const bool any_password = call.engine.access().users().default_user().takes_any_password();
  if (!names_user && any_password) call.args.Refuse(kNoPasswordSet);
  if (call.Refused()) return;
  Authenticate(call, {user, password});
  if (!call.refused()) call.reply.Ok();
}

struct Greeting {
  std::optional<Protocol> protocol;
  std::optional<Credentials> credentials;
  std::optional<std::string_view> name;
};

Protocol TakeProtocol(ArgReader& args) {
  const int64_t version = args.Integer("ERR Protocol version is not an integer or out of range");
  if (version != 2 && version != 3) args.Refuse("NOPROTO unsupported protocol version");
  return static_cast<Protocol>(version);
}

std::string_view TakeName(ArgReader& args) {
  const std::string_view name = args.Word();
  if (!IsClientName(name)) args.Refuse(kNotAClientName);
  return name;
}

Greeting TakeGreeting(ArgReader& args) {
  Greeting greeting;
  if (!args.AtEnd()) greeting.protocol = TakeProtocol(args);
  while (args.ok() && !args.AtEnd()) {
    if (args.left() > 2 && args.Take("auth")) {
      greeting.credentials = {args.Word(), args.Word()};
    } else if (args.left() > 1 && args.Take("setname")) {
      greeting.name = TakeName(args);
    } else {
      args.Refuse("ERR Syntax error in HELLO option " + Quoted(args.Peek()));
    }
  }
  return greeting;
}

void ReplyGreeting(AdminCall& call) {
  ReplyWriter& reply = call.reply;
  reply.Map(7);
  ReplyFields fields(reply);
  fields.Text("server", "redis");  // clients use this to identify the server
  fields.Text("version", kRedisVersion);
  fields.Number("proto", static_cast<uint64_t>(reply.protocol()));
  fields.Number("id", call.caller.id);
  fields.Text("mode", call.engine.settings().cluster_enabled ? "cluster" : "standalone");
  fields.Text("role", call.engine.replication().is_replica() ? "replica" : "master");
  reply.Bulk("modules");
  reply.Array(0);
}

// A HELLO that fails changes nothing, except that its AUTH option may have succeeded.
void Hello(AdminCall& call) {
  const Greeting greeting = TakeGreeting(call.args);
  if (call.Refused()) return;
  if (greeting.credentials) Authenticate(call, *greeting.credentials);
  if (call.refused()) return;
  if (!call.caller.authenticated()) return call.Fail(kMustAuthenticate);
  if (greeting.name) call.caller.name = *greeting.name;
  if (greeting.protocol) call.reply.set_protocol(*greeting.protocol);
  ReplyGreeting(call);
}

// Returns the indexes of the user and password after each AUTH, and of everything after an unknown
// option, which may be a misspelt AUTH. The word "auth" after SETNAME is a name.
std::vector<size_t> SecretsOfHello(Args argv) {
  size_t at = 2;  // after the protocol
  std::vector<size_t> secrets;
  while (at < argv.size()) {
    if (EqualsIgnoringCase(argv[at], "setname")) {
      at += 2;
      continue;
    }
    const bool is_auth = EqualsIgnoringCase(argv[at], "auth");
    const size_t end = is_auth ? std::min(at + 3, argv.size()) : argv.size();
    for (++at; at < end; ++at) secrets.push_back(at);
  }
  return secrets;
}

constexpr uint32_t kAuthFlags = kNoScript | kLoading | kStale | kFast | kNoAuth | kAllowBusy;

constexpr Command kAuthCommands[] = {
    {.name = "auth",
     .run = Auth,
     .arity = -2,
     .flags = kAuthFlags,
     .group = CommandGroup::kConnection,
     .since = "1.0.0",
     .usage = "[username] password",
     .summary = "Authenticates the connection.",
     .cost = "O(N) for N bytes of the password",
     .secrets = AllSecretFrom<1>},
    {.name = "hello",
     .run = Hello,
     .arity = -1,
     .flags = kAuthFlags | kKeepsMemory,
     .group = CommandGroup::kConnection,
     .since = "6.0.0",
     .usage = "[protover [AUTH username password] [SETNAME clientname]]",
     .summary = "Negotiates the protocol version and returns server information.",
     .cost = "O(1)",
     .secrets = SecretsOfHello},
};

}  // namespace

std::span<const Command> AuthCommands() { return kAuthCommands; }

}  // namespace zsetd
