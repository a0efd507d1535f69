#include <string>
#include <string_view>

#include "server/commands/common/help.h"
#include "server/commands/common/timeout_option.h"
#include "server/commands/connection/client_kill.h"
#include "server/commands/connection/client_list.h"
#include "server/commands/connection/client_name.h"
#include "server/commands/connection/families.h"
#include "server/engine/admin_call.h"
#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

void Id(AdminCall& call) { call.reply.Integer(static_cast<int64_t>(call.caller.id)); }

void SetName(AdminCall& call) {
  const std::string_view name = call.args.Word();
  if (!IsClientName(name)) return call.Fail(kNotAClientName);
  call.caller.name = name;
  call.reply.Ok();
}

void GetName(AdminCall& call) {
  if (call.caller.name.empty()) {
    call.reply.Null();
  } else {
    call.reply.Bulk(call.caller.name);
  }
}

void SetInfo(AdminCall& call) {
  const std::string attribute(call.args.Word());
  const std::string_view value = call.args.Word();
  const bool is_name = EqualsIgnoringCase(attribute, "lib-name");
  if (!is_name && !EqualsIgnoringCase(attribute, "lib-ver")) {
    return call.Fail("ERR Unrecognized option '" + attribute + "'");
  }
  if (!IsClientName(value)) {
    return call.Fail("ERR " + attribute +
                     " cannot contain spaces, newlines or special characters.");
  }
  (is_name ? call.client().lib_name : call.client().lib_version) = value;
  call.reply.Ok();
}

// Takes TIMEOUT or ERROR, if present. Returns whether the client is unblocked with an error, not as
// if its timeout had elapsed.
bool TakeEndsWithError(ArgReader& args) {
  if (args.AtEnd() || args.Take("timeout")) return false;
  if (!args.Take("error")) args.Refuse("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
  return true;
}

// Fails if the subcommand has more than `most` arguments left, and returns whether it does. Redis
// checks this before it reads them.
bool HasTooManyArguments(AdminCall& call, size_t most) {
  if (call.args.left() <= most) return false;
  call.Fail("ERR unknown subcommand or wrong number of arguments for '" +
            std::string(call.argv()[1]) + "'. Try CLIENT HELP.");
  return true;
}

void Unblock(AdminCall& call) {
  if (HasTooManyArguments(call, 2)) return;
  const int64_t id = call.args.Integer();
  const bool with_error = TakeEndsWithError(call.args);
  if (call.Refused()) return;
  const auto found = call.engine.clients().all().find(static_cast<uint64_t>(id));
  const bool waits = found != call.engine.clients().all().end() && found->second->blocked;
  if (waits && with_error) {
    call.engine.blocked_runner().UnblockWithError(*found->second,
                                                  "UNBLOCKED client unblocked via CLIENT UNBLOCK");
  } else if (waits) {
    call.engine.blocked_runner().UnblockWithTimeout(*found->second);
  }
  call.reply.Integer(waits ? 1 : 0);
}

bool TakeOnOrOff(ArgReader& args) {
  const bool on = args.Take("on");
  if (!on && !args.Take("off")) args.Refuse(kSyntaxError);
  return on;
}

void NoEvict(AdminCall& call) {
  const bool on = TakeOnOrOff(call.args);
  if (call.Refused()) return;
  call.client().no_evict = on;
  call.reply.Ok();
}

void NoTouch(AdminCall& call) {
  const bool on = TakeOnOrOff(call.args);
  if (call.Refused()) return;
  call.caller.no_touch = on;
  call.reply.Ok();
}

// Only ON has a reply.
void Reply(AdminCall& call) {
  using Mode = ClientOutput::ReplyMode;
  Mode& mode = call.client().output.reply_mode;
  if (call.client().IsReplica()) return call.Fail("ERR a replica gets no replies");
  if (call.args.Take("on")) {
    mode = Mode::kOn;
    call.reply.Ok();
  } else if (call.args.Take("off")) {
    mode = Mode::kOff;
  } else if (!call.args.Take("skip")) {
    call.Fail(kSyntaxError);
  } else if (mode != Mode::kOff) {
    mode = Mode::kSkipNext;
  }
}

ClientPause::Reach TakeReach(ArgReader& args) {
  if (args.AtEnd() || args.Take("all")) return ClientPause::Reach::kEverything;
  if (!args.Take("write")) args.Refuse("ERR CLIENT PAUSE mode must be WRITE or ALL");
  return ClientPause::Reach::kWrites;
}

void PauseClients(AdminCall& call) {
  if (HasTooManyArguments(call, 2)) return;
  const Millis time = TakeTimeoutMillis(call.args, call.now());
  const ClientPause::Reach reach = TakeReach(call.args);
  if (call.Refused()) return;
  call.engine.clients().pause().Begin(ClientPause::Cause::kCommand, reach, call.now(),
                                      call.now() + time);
  call.reply.Ok();
}

void Unpause(AdminCall& call) {
  call.engine.clients().pause().End(ClientPause::Cause::kCommand);
  call.reply.Ok();
}

constexpr uint32_t kClientFlags = kNoScript | kLoading | kStale;

constexpr Command kClientCommands[] = {
    {.name = "client",
     .arity = -2,
     .group = CommandGroup::kConnection,
     .since = "2.4.0",
     .summary = "Inspects and controls client connections.",
     .cost = "Depends on the subcommand"},
    {.name = "client|getname",
     .run = GetName,
     .arity = 2,
     .flags = kClientFlags,
     .group = CommandGroup::kConnection,
     .since = "2.6.9",
     .summary = "Returns the name of the connection.",
     .cost = "O(1)"},
    {.name = "client|help",
     .run = Help,
     .arity = 2,
     .flags = kLoading | kStale,
     .group = CommandGroup::kConnection,
     .since = "5.0.0",
     .summary = "Lists the subcommands.",
     .cost = "O(1)"},
    {.name = "client|id",
     .run = Id,
     .arity = 2,
     .flags = kClientFlags,
     .group = CommandGroup::kConnection,
     .since = "5.0.0",
     .summary = "Returns the ID of the connection.",
     .cost = "O(1)"},
    {.name = "client|info",
     .run = ClientInfo,
     .arity = 2,
     .flags = kClientFlags,
     .inspects = true,
     .group = CommandGroup::kConnection,
     .since = "6.2.0",
     .summary = "Describes the connection, in the format of CLIENT LIST.",
     .cost = "O(1)",
     .tips = "nondeterministic_output"},
    {.name = "client|kill",
     .run = ClientKill,
     .arity = -3,
     .flags = kClientFlags | kAdmin,
     .group = CommandGroup::kConnection,
     .since = "2.4.0",
     .usage = "<ip:port|[ID client-id] [TYPE <NORMAL|MASTER|SLAVE|REPLICA|PUBSUB>] [USER "
              "username] [ADDR ip:port] [LADDR ip:port] [SKIPME <YES|NO>] [MAXAGE seconds]>",
     .summary = "Closes the connections that match all given filters.",
     .cost = "O(N) for N connections"},
    {.name = "client|list",
     .run = ClientList,
     .arity = -2,
     .flags = kClientFlags | kAdmin,
     .inspects = true,
     .group = CommandGroup::kConnection,
     .since = "2.4.0",
     .usage = "[TYPE <NORMAL|MASTER|REPLICA|PUBSUB>] [ID client-id [client-id ...]]",
     .summary = "Lists connections, one per line.",
     .cost = "O(N) for N connections",
     .tips = "nondeterministic_output"},
    {.name = "client|no-evict",
     .run = NoEvict,
     .arity = 3,
     .flags = kClientFlags | kAdmin,
     .group = CommandGroup::kConnection,
     .since = "7.0.0",
     .usage = "<ON|OFF>",
     .summary = "Exempts the connection from client eviction.",
     .cost = "O(1)"},
    {.name = "client|no-touch",
     .run = NoTouch,
     .arity = 3,
     .flags = kClientFlags,
     .group = CommandGroup::kConnection,
     .since = "7.2.0",
     .usage = "<ON|OFF>",
     .summary = "Stops the connection's commands from updating LRU/LFU data.",
     .cost = "O(1)"},
    {.name = "client|pause",
     .run = PauseClients,
     .arity = -3,
     .flags = kClientFlags | kAdmin,
     .group = CommandGroup::kConnection,
     .since = "3.0.0",
     .usage = "timeout [WRITE|ALL]",
     .summary = "Suspends all commands, or only writes, for some milliseconds.",
     .cost = "O(1)"},
    {.name = "client|reply",
     .run = Reply,
     .arity = 3,
     .flags = kClientFlags,
     .group = CommandGroup::kConnection,
     .since = "3.2.0",
     .usage = "<ON|OFF|SKIP>",
     .summary = "Turns replies on or off, or skips the next one.",
     .cost = "O(1)"},
    {.name = "client|setinfo",
     .run = SetInfo,
     .arity = 4,
     .flags = kClientFlags | kKeepsMemory,
     .group = CommandGroup::kConnection,
     .since = "7.2.0",
     .usage = "<LIB-NAME libname|LIB-VER libver>",
     .summary = "Sets the client library's name or version.",
     .cost = "O(1)"},
    {.name = "client|setname",
     .run = SetName,
     .arity = 3,
     .flags = kClientFlags | kKeepsMemory,
     .group = CommandGroup::kConnection,
     .since = "2.6.9",
     .usage = "connection-name",
     .summary = "Sets the name of the connection.",
     .cost = "O(1)"},
    {.name = "client|unblock",
     .run = Unblock,
     .arity = -3,
     .flags = kClientFlags | kAdmin,
     .group = CommandGroup::kConnection,
     .since = "5.0.0",
     .usage = "client-id [TIMEOUT|ERROR]",
     .summary = "Unblocks a client waiting in a blocking command.",
     .cost = "O(log(N)) for N connections"},
    {.name = "client|unpause",
     .run = Unpause,
     .arity = 2,
     .flags = kClientFlags | kAdmin,
     .group = CommandGroup::kConnection,
     .since = "6.2.0",
     .summary = "Resumes commands suspended by CLIENT PAUSE.",
     .cost = "O(N) for N postponed requests"},
};

}  // namespace

std::span<const Command> ClientCommands() { return kClientCommands; }

}  // namespace zsetd
