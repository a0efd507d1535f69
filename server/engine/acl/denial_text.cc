#include <string>

#include "server/engine/acl/access_control.h"

namespace zsetd {
namespace {

std::string NoPermissionToRun(const User& user, const Command& command) {
  return "User " + user.name() + " has no permissions to run the '" + std::string(command.name) +
         "' command";
}

}  // namespace

std::string DenialLine(const Denial& denial, const User& user, const Command& command) {
  switch (denial.reason) {
    case Denial::Reason::kKey:
      return "NOPERM No permissions to access a key";
    case Denial::Reason::kChannel:
      return "NOPERM No permissions to access a channel";
    default:
      return "NOPERM " + NoPermissionToRun(user, command);
  }
}

std::string DenialLineInExec(const Denial& denial) {
  const std::string line =
      "NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC "
      "call. This command is no longer allowed for the following reason: ";
  switch (denial.reason) {
    case Denial::Reason::kKey:
      return line + "no permission to touch the specified keys";
    case Denial::Reason::kChannel:
      return line + "no permission to access one of the channels used as arguments";
    default:
      return line + "no permission to execute the command or subcommand";
  }
}

std::string DenialText(const Denial& denial, const User& user, const Command& command, Args argv) {
  if (denial.reason == Denial::Reason::kCommand) return NoPermissionToRun(user, command);
  const bool is_key = denial.reason == Denial::Reason::kKey;
  return "User " + user.name() + " has no permissions to access the '" +
         std::string(argv[denial.position]) + "' " + (is_key ? "key" : "channel");
}

}  // namespace zsetd
