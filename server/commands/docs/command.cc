#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/util/glob.h"
#include "server/commands/common/help.h"
#include "server/commands/docs/command_docs.h"
#include "server/commands/docs/command_info.h"
#include "server/commands/docs/command_keys.h"
#include "server/commands/docs/families.h"
#include "server/engine/admin_call.h"
#include "server/engine/command/command_categories.h"
#include "server/engine/request/request_checks.h"

namespace zsetd {
namespace {

// Returns all commands without subcommands.
std::vector<const Command*> WholeCommands(const CommandTable& table) {
  std::vector<const Command*> commands;
  for (const Command& row : table.rows()) {
    if (!row.IsSubcommand() && table.IsCallable(row)) commands.push_back(&row);
  }
  return commands;
}

using WriteOne = void (*)(ReplyWriter&, const CommandTable&, const Command*);

// The rest of a reply about many commands. The number is not bounded, because a request may repeat
// names.
class RestOfCommands : public LongReply {
 public:
  RestOfCommands(const CommandTable& table, std::vector<const Command*> commands, WriteOne write)
      : table_(table), commands_(std::move(commands)), write_(write) {}

  bool WriteNext(ReplyWriter& reply) override {
    write_(reply, table_, commands_[next_]);
    return ++next_ < commands_.size();
  }

  size_t BytesUsed() const override { return commands_.capacity() * sizeof(commands_[0]); }

 private:
  const CommandTable& table_;
  std::vector<const Command*> commands_;
  WriteOne write_;
  size_t next_ = 0;
};

// Replies each command. The header must be written before.
void ReplyEach(AdminCall& call, std::vector<const Command*> commands, WriteOne write) {
  constexpr size_t kMany = 1000;  // fewer are replied in one piece
  const CommandTable& table = call.engine.commands();
  if (commands.size() > kMany) {
    return call.ReplyAtLength(std::make_unique<RestOfCommands>(table, std::move(commands), write));
  }
  for (const Command* command : commands) write(call.reply, table, command);
}

void ReplyInfos(AdminCall& call, std::vector<const Command*> commands) {
  call.reply.Array(commands.size());
  ReplyEach(call, std::move(commands),
            [](ReplyWriter& reply, const CommandTable& table, const Command* command) {
              command == nullptr ? reply.Null() : ReplyCommandInfo(reply, table, *command);
            });
}

void CommandAll(AdminCall& call) {
  if (!call.args.AtEnd()) return call.Fail(UnknownSubcommand(call.command, call.argv()));
  ReplyInfos(call, WholeCommands(call.engine.commands()));
}

void CommandCount(AdminCall& call) {
  call.reply.Integer(static_cast<int64_t>(WholeCommands(call.engine.commands()).size()));
}

// Returns the named commands, with null for an unknown one; all commands if none is named.
std::vector<const Command*> NamedCommands(AdminCall& call) {
  if (call.args.AtEnd()) return WholeCommands(call.engine.commands());
  std::vector<const Command*> commands;
  for (const std::string_view name : call.args.Rest()) {
    commands.push_back(call.engine.commands().Find(name));
  }
  return commands;
}

void CommandInfo(AdminCall& call) { ReplyInfos(call, NamedCommands(call)); }

void CommandDocs(AdminCall& call) {
  std::vector<const Command*> commands = NamedCommands(call);
  std::erase(commands, nullptr);
  call.reply.Map(commands.size());
  ReplyEach(call, std::move(commands),
            [](ReplyWriter& reply, const CommandTable& table, const Command* command) {
              ReplyCommandDocs(reply, table, *command);
            });
}

using Filter = std::function<bool(const Command&)>;

Filter ReadFilter(ArgReader& args) {
  if (!args.Take("filterby")) return [](const Command&) { return true; };
  if (args.Take("module")) {
    args.Word();
    return [](const Command&) { return false; };  // zsetd has no modules
  }
  if (args.Take("aclcat")) {
    return [category = args.Word()](const Command& row) { return IsIn(row, category); };
  }
  if (args.Take("pattern")) {
    return [pattern = args.Word()](const Command& row) {
      return GlobMatchesIgnoringCase(pattern, row.name);
    };
  }
  args.Refuse(kSyntaxError);
  return {};
}

void CommandList(AdminCall& call) {
  const Filter passes = ReadFilter(call.args);
  call.args.End();
  if (call.Refused()) return;
  std::vector<std::string_view> names;
  for (const Command& row : call.engine.commands().rows()) {
    if (call.engine.commands().IsCallable(row) && passes(row)) names.push_back(row.name);
  }
  call.reply.Array(names.size());
  for (const std::string_view name : names) call.reply.Bulk(name);
}

constexpr uint32_t kFlags = kLoading | kStale | kConnectionCategory;

constexpr CommandGroup kGroup = CommandGroup::kServer;

constexpr Command kCommandCommands[] = {
    {.name = "command",
     .run = CommandAll,
     .arity = -1,
     .flags = kFlags,
     .inspects = true,
     .group = kGroup,
     .since = "2.8.13",
     .summary = "Returns details of all commands.",
     .cost = "O(N) for N commands",
     .tips = "nondeterministic_output_order"},
    {.name = "command|count",
     .run = CommandCount,
     .arity = 2,
     .flags = kFlags,
     .inspects = true,
     .group = kGroup,
     .since = "2.8.13",
     .summary = "Returns the number of commands.",
     .cost = "O(1)"},
    {.name = "command|docs",
     .run = CommandDocs,
     .arity = -2,
     .flags = kFlags,
     .inspects = true,
     .group = kGroup,
     .since = "7.0.0",
     .usage = "[command-name [command-name ...]]",
     .summary = "Returns the documentation of commands.",
     .cost = "O(N) for N commands returned",
     .tips = "nondeterministic_output_order"},
    {.name = "command|getkeys",
     .run = CommandGetKeys,
     .arity = -4,
     .flags = kFlags,
     .group = kGroup,
     .since = "2.8.13",
     .usage = "command [arg [arg ...]]",
     .summary = "Extracts the key names from a command.",
     .cost = "O(N) for N arguments"},
    {.name = "command|getkeysandflags",
     .run = CommandGetKeysAndFlags,
     .arity = -4,
     .flags = kFlags,
     .group = kGroup,
     .since = "7.0.0",
     .usage = "command [arg [arg ...]]",
     .summary = "Extracts the key names from a command, with their access flags.",
     .cost = "O(N) for N arguments"},
    {.name = "command|help",
     .run = Help,
     .arity = 2,
     .flags = kFlags,
     .group = kGroup,
     .since = "5.0.0",
     .summary = "Lists the subcommands.",
     .cost = "O(1)"},
    {.name = "command|info",
     .run = CommandInfo,
     .arity = -2,
     .flags = kFlags,
     .inspects = true,
     .group = kGroup,
     .since = "2.8.13",
     .usage = "[command-name [command-name ...]]",
     .summary = "Returns arity, flags and key positions of commands.",
     .cost = "O(N) for N commands returned",
     .tips = "nondeterministic_output_order"},
    {.name = "command|list",
     .run = CommandList,
     .arity = -2,
     .flags = kFlags,
     .inspects = true,
     .group = kGroup,
     .since = "7.0.0",
     .usage = "[FILTERBY <MODULE module-name|ACLCAT category|PATTERN pattern>]",
     .summary = "Lists command names, optionally filtered.",
     .cost = "O(N) for N commands",
     .tips = "nondeterministic_output_order"},
};

}  // namespace

std::span<const Command> CommandCommands() { return kCommandCommands; }

}  // namespace zsetd
