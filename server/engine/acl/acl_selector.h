#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "protocol/resp/args.h"
#include "server/engine/command/command_table.h"

namespace zsetd {

// Why a rule names no command or category.
inline constexpr std::string_view kUnknownAclCommand = "Unknown command or category name in ACL";

// Why a request is denied, and the argument that caused it.
struct Denial {
  enum class Reason { kCommand = 1, kKey, kAuth, kChannel };  // a later one is more specific
  Reason reason = Reason::kCommand;
  size_t position = 0;
};

// Where a denied request came from.
enum class DenialContext { kTopLevel, kTransaction, kScript };

// One set of rules: which commands may be run, on which keys, on which channels. A user has one,
// and may have more, each of which can allow a request by itself:
//
// clang-format off
//   +@read -get +config|get +select|0     commands, by category and by name; later rules win
//   ~users:* %R~log:* %W~log:*            keys, to be read, written or both
//   &news.*                               channels
// clang-format on
//
// Initially nothing is allowed.
class AclSelector {
 public:
  explicit AclSelector(const CommandTable& commands)
      : commands_(&commands), allowed_(commands.rows().size(), false) {}

  // Applies one modifier. An error has the wording of Redis, without an error code; nothing changes
  // then. Whatever is accepted, Text() writes so that it is read back as the same rules. Commands
  // of Redis that this server lacks (foreign_commands.h) are accepted, and the rule is kept.
  absl::Status Apply(std::string_view modifier);

  // The reason why the request is denied, or nullopt. Precondition: its arity was checked.
  std::optional<Denial> Check(const Command& command, Args argv) const;

  // Whether everything is allowed, known without a look at the request.
  bool AllowsAll() const { return all_commands_ && all_keys_ && all_channels_; }

  // Whether every key may be read, whatever its name.
  bool ReadsAllKeys() const;

  bool AllowsChannel(std::string_view channel, bool is_pattern) const;
  bool AllowsAllChannels() const { return all_channels_; }
  const std::vector<std::string>& channels() const { return channels_; }

  // As ACL GETUSER returns them; Apply() accepts each word.
  std::string CommandsText() const;
  std::string KeysText() const;
  std::string ChannelsText() const;

  // All in one line, as in ACL LIST.
  std::string Text() const;

 private:
  struct KeyPattern {
    std::string glob;
    bool reads;
    bool writes;
  };
  struct CommandRule {
    bool allows;
    std::string what;  // "get", "config|get", "select|0", "@read"
  };

  void AllowAllCommands(bool allow);
  absl::Status ApplyCommand(std::string_view what, bool allow);
  absl::Status AllowFirstArgument(std::string_view command, std::string_view argument);
  absl::Status ApplyCategory(std::string_view category, bool allow);
  void SetWithSubcommands(const Command& command, bool allow);
  void Set(const Command& command, bool allow);
  void Remember(std::string_view what, bool allow);
  absl::Status AddKeys(std::string_view modifier);
  absl::Status AddChannels(std::string_view pattern);

  bool AllowsCommand(const Command& command, Args argv) const;
  bool AllowsKey(std::string_view key, bool reads, bool writes) const;
  std::optional<size_t> FirstForbiddenKey(const Command& command, Args argv) const;
  std::optional<size_t> FirstForbiddenChannel(const Command& command, Args argv) const;

  const CommandTable* commands_;
  std::vector<bool> allowed_;  // parallel to the rows of commands_
  std::map<const Command*, std::vector<std::string>> first_arguments_;  // allowed in addition
  std::vector<CommandRule> rules_;  // what of these has not been undone since all or none
  std::vector<KeyPattern> keys_;
  std::vector<std::string> channels_;
  bool future_commands_ = false;  // whether unknown commands would be allowed
  bool all_commands_ = false;
  bool all_keys_ = false;
  bool all_channels_ = false;
};

// Whether a user's name or a pattern may not be written down, since it has a space or a NUL.
bool HasSpaces(std::string_view text);

}  // namespace zsetd
