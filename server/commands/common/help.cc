#include "server/commands/common/help.h"

#include <span>
#include <string>
#include <string_view>

#include "server/engine/admin_call.h"
#include "server/engine/support/ascii_case.h"

namespace zsetd {

void Help(AdminCall& call) {
  const std::string_view name = call.command.name;
  const Command& command = *call.engine.commands().FindOriginal(name.substr(0, name.find('|')));
  const std::span<const Command> subcommands = call.engine.commands().SubcommandsOf(command);
  call.reply.Array(1 + 2 * subcommands.size());
  call.reply.Simple(UpperCase(command.name) +
                    " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:");
  for (const Command& row : subcommands) {
    const std::string subcommand = UpperCase(row.name.substr(command.name.size() + 1));
    call.reply.Simple(subcommand + (row.usage.empty() ? "" : " ") + std::string(row.usage));
    call.reply.Simple("    " + std::string(row.summary));
  }
}

}  // namespace zsetd
