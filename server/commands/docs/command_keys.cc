#include "server/commands/docs/command_keys.h"

#include <string_view>

#include "server/commands/docs/command_info.h"
#include "server/engine/command/key_specs.h"
#include "server/engine/command/request_keys.h"

namespace zsetd {
namespace {

// Returns the reason why the keys of this request cannot be returned; empty if they can.
std::string_view WrongWith(const Command* command, Args request) {
  const bool is_known = command != nullptr && (command->run != nullptr || request.size() == 1);
  if (!is_known) return "ERR Invalid command specified";
  const bool has_keys = !KeySpecsOf(*command).empty() && !command->keys.are_channels;
  if (!has_keys) return "ERR The command has no key arguments";
  if (!command->AcceptsCount(request.size())) {
    return "ERR Invalid number of arguments specified for command";
  }
  if (FindKeys(*command, request).empty() && !command->Has(kNoMandatoryKeys)) {
    return "ERR Invalid arguments specified for command";
  }
  return {};
}

void ReplyKeys(AdminCall& call, bool with_flags) {
  const Args request = call.args.Rest();
  const Command* command = call.engine.commands().Find(request);
  const std::string_view error = WrongWith(command, request);
  if (!error.empty()) return call.Fail(error);
  const RequestKeys keys = FindKeys(*command, request);
  const KeyUses uses(*command, request);
  call.reply.Array(keys.Count());
  for (const size_t position : keys) {
    if (with_flags) call.reply.Array(2);
    call.reply.Bulk(request[position]);
    if (with_flags) ReplyKeyFlags(call.reply, uses.At(position).flags);
  }
}

}  // namespace

void CommandGetKeys(AdminCall& call) { ReplyKeys(call, /*with_flags=*/false); }
void CommandGetKeysAndFlags(AdminCall& call) { ReplyKeys(call, /*with_flags=*/true); }

}  // namespace zsetd
