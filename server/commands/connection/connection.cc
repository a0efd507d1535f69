#include <string_view>

#include "server/commands/common/database_index.h"
#include "server/commands/connection/families.h"
#include "server/engine/admin_call.h"

namespace zsetd {
namespace {

// A RESP2 subscriber receives an array, as for its other messages.
void Ping(AdminCall& call) {
  const Client* const client = call.caller.client();
  const bool listening =
      client != nullptr && client->IsSubscriber() && call.reply.protocol() == Protocol::kResp2;
  const bool with_message = !call.args.AtEnd();
  const std::string_view message = with_message ? call.args.Word() : std::string_view();
  if (!call.args.AtEnd()) return call.Fail(WrongArity(call.command.name));
  if (listening) {
    call.reply.Array(2);
    call.reply.Bulk("pong");
    call.reply.Bulk(message);
  } else if (with_message) {
    call.reply.Bulk(message);
  } else {
    call.reply.Simple("PONG");
  }
}

void Echo(AdminCall& call) { call.reply.Bulk(call.args.Word()); }

void Select(AdminCall& call) {
  const int index = TakeDatabaseIndex(call);
  if (index != 0 && call.keys.is_clustered()) {
    call.args.Refuse("ERR SELECT is not allowed in cluster mode");
  }
  if (call.Refused()) return;
  call.caller.database = index;
  call.reply.Ok();
}

void Reset(AdminCall& call) {
  if (call.client().IsReplica()) return call.Fail("ERR can only reset normal connections");
  call.engine.clients().Reset(call.client());
  call.reply.Simple("RESET");
}

void Quit(AdminCall& call) {
  call.reply.Ok();
  call.client().connection.close_after_reply = true;
}

constexpr Command kConnectionCommands[] = {
    {.name = "ping",
     .run = Ping,
     .arity = -1,
     .flags = kFast | kAllowedWhileSubscribed | kFailsUnsaved,
     .inspects = true,
     .group = CommandGroup::kConnection,
     .since = "1.0.0",
     .usage = "[message]",
     .summary = "Returns PONG, or the given message.",
     .cost = "O(1)",
     .tips = "request_policy:all_shards response_policy:all_succeeded"},
    {.name = "echo",
     .run = Echo,
     .arity = 2,
     .flags = kFast | kLoading | kStale,
     .inspects = true,
     .group = CommandGroup::kConnection,
     .since = "1.0.0",
     .usage = "message",
     .summary = "Returns the given message.",
     .cost = "O(1)"},
    {.name = "select",
     .run = Select,
     .arity = 2,
     .flags = kLoading | kStale | kFast,
     .inspects = true,
     .group = CommandGroup::kConnection,
     .since = "1.0.0",
     .usage = "index",
     .summary = "Selects the database of the connection.",
     .cost = "O(1)"},
    {.name = "reset",
     .run = Reset,
     .arity = 1,
     .flags = kNoScript | kLoading | kStale | kFast | kNoAuth | kAllowBusy | kNotQueuedInMulti |
              kAllowedWhileSubscribed,
     .group = CommandGroup::kConnection,
     .since = "6.2.0",
     .summary = "Resets the connection to its initial state.",
     .cost = "O(N) for N channels, patterns and watched keys"},
    {.name = "quit",
     .run = Quit,
     .arity = -1,
     .flags = kFast | kNoScript | kLoading | kStale | kNoAuth | kAllowBusy | kNotQueuedInMulti |
              kAllowedWhileSubscribed,
     .group = CommandGroup::kConnection,
     .since = "1.0.0",
     .summary = "Closes the connection.",
     .cost = "O(1)"},
};

}  // namespace

std::span<const Command> ConnectionCommands() { return kConnectionCommands; }

}  // namespace zsetd
