// The ACL command: users and their permissions.

#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/commands/admin/acl_users.h"
#include "server/commands/admin/families.h"
#include "server/commands/common/help.h"
#include "server/commands/common/reply_fields.h"
#include "server/engine/acl/acl_log.h"
#include "server/engine/admin_call.h"
#include "server/engine/command/command_categories.h"
#include "server/engine/command/redaction.h"

namespace zsetd {
namespace {

constexpr int64_t kUsualBits = 256;
constexpr int64_t kMostBits = 4096;

// Refuses the call if the subcommand has too many arguments.
void RefuseMore(AdminCall& call, size_t most) {
  if (call.args.left() <= most) return;
  call.args.Refuse("ERR unknown subcommand or wrong number of arguments for '" +
                   std::string(call.argv()[1]) + "'. Try ACL HELP.");
}

void ReplyNames(ReplyWriter& reply, std::span<const std::string_view> names) {
  reply.Array(names.size());
  for (const std::string_view name : names) reply.Bulk(name);
}

void Cat(AdminCall& call) {
  RefuseMore(call, 1);
  if (call.Refused()) return;
  if (call.args.AtEnd()) return ReplyNames(call.reply, AllCategories());
  const std::string_view asked = call.args.Word();
  const std::optional<std::string_view> category = FindCategory(asked);
  if (!category) return call.Fail("ERR Unknown category " + Quoted(asked));
  std::vector<std::string_view> names;
  for (const Command& row : call.engine.commands().rows()) {
    if (IsIn(row, *category)) names.push_back(row.name);
  }
  ReplyNames(call.reply, names);
}

// Uses the system's random source instead of the engine's generator, because passwords must be
// unpredictable.
void GenPass(AdminCall& call) {
  RefuseMore(call, 1);
  const int64_t bits = call.args.AtEnd() ? kUsualBits : call.args.Integer();
  if (bits < 1 || bits > kMostBits) {
    call.args.Refuse(
        "ERR ACL GENPASS argument must be the number of bits for the output password, a positive "
        "number up to 4096");
  }
  if (call.Refused()) return;
  constexpr char kDigits[] = "0123456789abcdef";
  std::array<unsigned char, kMostBits / 4> bytes;
  const auto count = static_cast<int>((bits + 3) / 4);
  if (RAND_bytes(bytes.data(), count) != 1) return call.Fail("ERR the system has no randomness");
  std::string digits;
  for (int i = 0; i < count; ++i) digits += kDigits[bytes[i] % 16];
  call.reply.Bulk(digits);
}

void LoadFile(AdminCall& call) {
  const absl::Status status = call.engine.access().LoadFile();
  if (status.ok()) {
    call.reply.Ok();
  } else {
    call.Fail(status);
  }
}

void SaveFile(AdminCall& call) {
  const absl::Status status = call.engine.access().SaveFile();
  if (status.ok()) {
    call.reply.Ok();
  } else {
    call.Fail(status);
  }
}

constexpr int64_t kUsualLogEntries = 10;

std::string_view NameOf(Denial::Reason reason) {
  switch (reason) {
    case Denial::Reason::kCommand:
      return "command";
    case Denial::Reason::kKey:
      return "key";
    case Denial::Reason::kAuth:
      return "auth";
    case Denial::Reason::kChannel:
      return "channel";
  }
  return {};
}

std::string_view NameOf(DenialContext context) {
  switch (context) {
    case DenialContext::kTopLevel:
      return "toplevel";
    case DenialContext::kTransaction:
      return "multi";
    case DenialContext::kScript:
      return "lua";
  }
  return {};
}

void ReplyEntry(ReplyWriter& reply, const AclLog::Entry& entry, Millis now) {
  reply.Map(10);
  ReplyFields fields(reply);
  fields.Number("count", entry.count);
  fields.Text("reason", NameOf(entry.reason));
  fields.Text("context", NameOf(entry.context));
  fields.Text("object", entry.object);
  fields.Text("username", entry.user);
  reply.Bulk("age-seconds");
  reply.Double(static_cast<double>((now - entry.updated).count()) / 1000);
  fields.Text("client-info", entry.client);
  fields.Number("entry-id", entry.id);
  fields.Number("timestamp-created", static_cast<uint64_t>(entry.created.count()));
  fields.Number("timestamp-last-updated", static_cast<uint64_t>(entry.updated.count()));
}

void Log(AdminCall& call) {
  RefuseMore(call, 1);
  if (call.Refused()) return;
  AclLog& log = call.engine.access().log();
  if (call.args.left() == 1 && call.args.Take("reset")) {
    log.Reset();
    return call.reply.Ok();
  }
  const int64_t wanted = call.args.AtEnd() ? kUsualLogEntries : call.args.Integer();
  if (call.Refused()) return;
  const size_t count =
      std::min(log.entries().size(), static_cast<size_t>(std::max<int64_t>(wanted, 0)));
  call.reply.Array(count);
  for (size_t i = 0; i < count; ++i) ReplyEntry(call.reply, log.entries()[i], call.now());
}

constexpr uint32_t kAclFlags = kNoScript | kLoading | kStale;
constexpr uint32_t kAclAdminFlags = kAclFlags | kAdmin;
constexpr CommandGroup kAclGroup = CommandGroup::kServer;

constexpr Command kAclCommands[] = {
    {.name = "acl",
     .arity = -2,
     .group = kAclGroup,
     .since = "6.0.0",
     .summary = "Manages users and their permissions.",
     .cost = "Depends on the subcommand"},
    {.name = "acl|cat",
     .run = Cat,
     .arity = -2,
     .flags = kAclFlags,
     .group = kAclGroup,
     .since = "6.0.0",
     .usage = "[category]",
     .summary = "Lists the command categories, or the commands in one category.",
     .cost = "O(N) for N commands"},
    {.name = "acl|deluser",
     .run = AclDelUser,
     .arity = -3,
     .flags = kAclAdminFlags,
     .group = kAclGroup,
     .since = "6.0.0",
     .usage = "username [username ...]",
     .summary = "Deletes users and closes their connections; returns the number deleted.",
     .cost = "O(N) for N clients of the server",
     .secrets = AllSecretFrom<2>},
    {.name = "acl|dryrun",
     .run = AclDryRun,
     .arity = -4,
     .flags = kAclAdminFlags,
     .group = kAclGroup,
     .since = "7.0.0",
     .usage = "username command [arg [arg ...]]",
     .summary = "Checks whether a user could run a command, without running it.",
     .cost = "O(N) for N rules of the user"},
    {.name = "acl|genpass",
     .run = GenPass,
     .arity = -2,
     .flags = kAclFlags,
     .group = kAclGroup,
     .since = "6.0.0",
     .usage = "[bits]",
     .summary = "Generates a random password.",
     .cost = "O(N) for N bits"},
    {.name = "acl|getuser",
     .run = AclGetUser,
     .arity = 3,
     .flags = kAclAdminFlags,
     .group = kAclGroup,
     .since = "6.0.0",
     .usage = "username",
     .summary = "Returns the rules of a user.",
     .cost = "O(N) for N rules",
     .secrets = AllSecretFrom<2>},
    {.name = "acl|help",
     .run = Help,
     .arity = 2,
     .flags = kLoading | kStale,
     .group = kAclGroup,
     .since = "6.0.0",
     .summary = "Lists the subcommands.",
     .cost = "O(1)"},
    {.name = "acl|list",
     .run = AclList,
     .arity = 2,
     .flags = kAclAdminFlags,
     .group = kAclGroup,
     .since = "6.0.0",
     .summary = "Lists all users and their rules, in ACL file format.",
     .cost = "O(N) for N rules of all users"},
    {.name = "acl|load",
     .run = LoadFile,
     .arity = 2,
     .flags = kAclAdminFlags,
     .group = kAclGroup,
     .since = "6.0.0",
     .summary = "Replaces all users with those in the ACL file.",
     .cost = "O(N) for N users and clients"},
    {.name = "acl|log",
     .run = Log,
     .arity = -2,
     .flags = kAclAdminFlags,
     .group = kAclGroup,
     .since = "6.0.0",
     .usage = "[count|RESET]",
     .summary = "Lists recently denied commands and failed logins, or clears the list.",
     .cost = "O(N) for N denials returned"},
    {.name = "acl|save",
     .run = SaveFile,
     .arity = 2,
     .flags = kAclAdminFlags,
     .group = kAclGroup,
     .since = "6.0.0",
     .summary = "Saves all users to the ACL file.",
     .cost = "O(N) for N users"},
    {.name = "acl|setuser",
     .run = AclSetUser,
     .arity = -3,
     .flags = kAclAdminFlags,
     .group = kAclGroup,
     .since = "6.0.0",
     .usage = "username [rule [rule ...]]",
     .summary = "Creates a user or changes its rules, atomically.",
     .cost = "O(N) for N rules and commands",
     .secrets = AllSecretFrom<2>},
    {.name = "acl|users",
     .run = AclUsers,
     .arity = 2,
     .flags = kAclAdminFlags,
     .group = kAclGroup,
     .since = "6.0.0",
     .summary = "Lists all user names.",
     .cost = "O(N) for N users"},
    {.name = "acl|whoami",
     .run = AclWhoAmI,
     .arity = 2,
     .flags = kAclFlags,
     .inspects = true,
     .group = kAclGroup,
     .since = "6.0.0",
     .summary = "Returns the user name of the connection.",
     .cost = "O(1)"},
};

}  // namespace

std::span<const Command> AclCommands() { return kAclCommands; }

}  // namespace zsetd
