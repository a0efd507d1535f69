#include "server/engine/acl/acl_selector.h"

#include <algorithm>
#include <cassert>
#include <cctype>

#include "core/util/glob.h"
#include "server/engine/command/command_categories.h"
#include "server/engine/command/foreign_commands.h"
#include "server/engine/command/key_specs.h"
#include "server/engine/command/request_keys.h"
#include "server/engine/notify/top_channel.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr std::string_view kTooDeep = "Allowing first-arg of a subcommand is not supported";

constexpr std::string_view kSyntax = "Syntax error";
constexpr std::string_view kKeysAreAll =
    "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have "
    "any effect. Try 'resetkeys' to start with an empty list of patterns";
constexpr std::string_view kChannelsAreAll =
    "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not "
    "have any effect. Try 'resetchannels' to start with an empty list of channels";

// The arguments of the request that are channels.
Args ChannelsIn(const Command& command, Args argv) {
  if (command.channels == ChannelPlaces::kNone) return {};
  const Args arguments = argv.subspan(1);
  if (command.channels != ChannelPlaces::kFirst || arguments.empty()) return arguments;
  return arguments.first(1);
}

std::string Join(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + " " + b;
}

}  // namespace

bool HasSpaces(std::string_view text) {
  return std::ranges::any_of(
      text, [](char byte) { return byte == 0 || std::isspace(static_cast<unsigned char>(byte)); });
}

absl::Status AclSelector::Apply(std::string_view modifier) {
  const auto is = [&](std::string_view a, std::string_view b = {}) {
    return EqualsIgnoringCase(modifier, a) || (!b.empty() && EqualsIgnoringCase(modifier, b));
  };
  if (is("allkeys", "~*") || is("resetkeys")) {
    all_keys_ = !is("resetkeys");
    keys_.clear();
  } else if (is("allchannels", "&*") || is("resetchannels")) {
    all_channels_ = !is("resetchannels");
    channels_.clear();
  } else if (is("allcommands", "+@all") || is("nocommands", "-@all")) {
    AllowAllCommands(is("allcommands", "+@all"));
  } else if (modifier.starts_with("+@") || modifier.starts_with("-@")) {
    return ApplyCategory(modifier.substr(1), modifier.starts_with('+'));
  } else if (modifier.starts_with('+') || modifier.starts_with('-')) {
    return ApplyCommand(modifier.substr(1), modifier.starts_with('+'));
  } else if (modifier.starts_with('~') || modifier.starts_with('%')) {
    return AddKeys(modifier);
  } else if (modifier.starts_with('&')) {
    return AddChannels(modifier.substr(1));
  } else {
    return Refusal(kSyntax);
  }
  return absl::OkStatus();
}

void AclSelector::AllowAllCommands(bool allow) {
  allowed_.assign(allowed_.size(), allow);
  first_arguments_.clear();
  rules_.clear();
  all_commands_ = allow;
  future_commands_ = allow;
}

absl::Status AclSelector::ApplyCommand(std::string_view what, bool allow) {
  const Command* command = commands_->FindOriginal(what);
  const size_t bar = what.rfind('|');
  if (command == nullptr && FindForeignCommand(what) != nullptr) {
    Remember(what, allow);
    return absl::OkStatus();
  }
  if (command == nullptr && allow && bar != std::string_view::npos) {
    return AllowFirstArgument(what.substr(0, bar), what.substr(bar + 1));
  }
  if (command == nullptr) return Refusal(kUnknownAclCommand);
  SetWithSubcommands(*command, allow);
  Remember(what, allow);
  return absl::OkStatus();
}

// A command without subcommands may be allowed for one first argument: "select|0". An argument with
// a space or a line break is refused: a file would read it back as other rules.
absl::Status AclSelector::AllowFirstArgument(std::string_view name, std::string_view argument) {
  const Command* command = commands_->FindOriginal(name);
  if (command == nullptr && FindForeignCommand(name) == nullptr) return Refusal(kUnknownAclCommand);
  if (name.find('|') != std::string_view::npos) return Refusal(kTooDeep);
  if (argument.empty() || HasSpaces(argument)) return Refusal(kSyntax);
  if (command != nullptr) {
    if (!commands_->SubcommandsOf(*command).empty()) return Refusal(kUnknownAclCommand);
    std::vector<std::string>& arguments = first_arguments_[command];
    if (std::ranges::count(arguments, argument) == 0) arguments.emplace_back(argument);
  }
  Remember(std::string(name) + "|" + std::string(argument), true);
  return absl::OkStatus();
}

absl::Status AclSelector::ApplyCategory(std::string_view category, bool allow) {
  assert(category.starts_with('@'));
  if (!FindCategory(category.substr(1))) return Refusal(kUnknownAclCommand);
  for (const Command& row : commands_->rows()) {
    if (IsIn(row, category.substr(1))) Set(row, allow);
  }
  Remember(category, allow);
  return absl::OkStatus();
}

void AclSelector::SetWithSubcommands(const Command& command, bool allow) {
  Set(command, allow);
  if (command.IsSubcommand()) return;
  for (const Command& subcommand : commands_->SubcommandsOf(command)) Set(subcommand, allow);
}

void AclSelector::Set(const Command& command, bool allow) {
  allowed_[commands_->IndexOf(command)] = allow;
  first_arguments_.erase(&command);
  if (!allow) all_commands_ = false;
}

// A rule makes those about the same, or about a part of it, superfluous.
void AclSelector::Remember(std::string_view what, bool allow) {
  const std::string name = LowerCase(what);
  std::erase_if(rules_, [&](const CommandRule& rule) {
    return rule.what == name || rule.what.starts_with(name + "|");
  });
  rules_.push_back({allow, name});
}

absl::Status AclSelector::AddKeys(std::string_view modifier) {
  if (all_keys_) return Refusal(kKeysAreAll);
  const size_t tilde = modifier.find('~');
  if (tilde == std::string_view::npos) return Refusal(kSyntax);
  KeyPattern added = {std::string(modifier.substr(tilde + 1)), tilde == 0, tilde == 0};
  for (size_t at = 1; at < tilde; ++at) {
    bool& permission = toupper(modifier[at]) == 'R' ? added.reads : added.writes;
    const bool is_known = toupper(modifier[at]) == 'R' || toupper(modifier[at]) == 'W';
    if (!is_known || permission) return Refusal(kSyntax);
    permission = true;
  }
  if (HasSpaces(added.glob) || !(added.reads || added.writes)) return Refusal(kSyntax);
  const auto same = std::ranges::find(keys_, added.glob, &KeyPattern::glob);
  if (same != keys_.end()) {
    added.reads |= same->reads;
    added.writes |= same->writes;
  }
  if (added.glob == "*" && added.reads && added.writes) {  // which is written as ~*, all keys
    all_keys_ = true;
    keys_.clear();
  } else if (same != keys_.end()) {
    *same = std::move(added);
  } else {
    keys_.push_back(std::move(added));
  }
  return absl::OkStatus();
}

absl::Status AclSelector::AddChannels(std::string_view pattern) {
  if (all_channels_) return Refusal(kChannelsAreAll);
  if (HasSpaces(pattern)) return Refusal(kSyntax);
  if (std::ranges::count(channels_, pattern) == 0) channels_.emplace_back(pattern);
  return absl::OkStatus();
}

std::optional<Denial> AclSelector::Check(const Command& command, Args argv) const {
  using Reason = Denial::Reason;
  if (!AllowsCommand(command, argv)) return Denial{Reason::kCommand, 0};
  if (!all_keys_) {
    if (const auto key = FirstForbiddenKey(command, argv)) return Denial{Reason::kKey, *key};
  }
  if (!all_channels_ || !all_keys_) {
    const auto channel = FirstForbiddenChannel(command, argv);
    if (channel) return Denial{Reason::kChannel, *channel};
  }
  return std::nullopt;
}

bool AclSelector::AllowsCommand(const Command& command, Args argv) const {
  if (all_commands_ || command.Has(kNoAuth) || allowed_[commands_->IndexOf(command)]) return true;
  const auto arguments = first_arguments_.find(&command);
  if (arguments == first_arguments_.end() || argv.size() < 2) return false;
  return std::ranges::any_of(arguments->second, [&](const std::string& allowed) {
    return EqualsIgnoringCase(allowed, argv[1]);
  });
}

std::optional<size_t> AclSelector::FirstForbiddenKey(const Command& command, Args argv) const {
  const KeyUses uses(command, argv);
  for (const size_t position : FindKeys(command, argv)) {
    const KeyUse use = uses.At(position);
    if (!AllowsKey(argv[position], use.Reads(), use.Writes())) return position;
  }
  return std::nullopt;
}

bool AclSelector::AllowsKey(std::string_view key, bool reads, bool writes) const {
  return std::ranges::any_of(keys_, [&](const KeyPattern& pattern) {
    return pattern.reads >= reads && pattern.writes >= writes && GlobMatches(pattern.glob, key);
  });
}

bool AclSelector::ReadsAllKeys() const {
  return all_keys_ || std::ranges::any_of(keys_, [](const KeyPattern& pattern) {
           return pattern.reads && pattern.glob == "*";
         });
}

std::optional<size_t> AclSelector::FirstForbiddenChannel(const Command& command, Args argv) const {
  const bool are_patterns = command.channels == ChannelPlaces::kAllPatterns;
  size_t position = 1;
  for (const std::string_view channel : ChannelsIn(command, argv)) {
    if (!AllowsChannel(channel, are_patterns)) return position;
    ++position;
  }
  return std::nullopt;
}

// A channel pattern must itself be allowed, literally. A channel that shows elements of a sorted
// set requires that its key may be read.
bool AclSelector::AllowsChannel(std::string_view channel, bool is_pattern) const {
  if (!is_pattern && !all_keys_) {
    const std::optional<TopChannel> top = ReadTopChannel(channel);
    if (top && !AllowsKey(top->key, /*reads=*/true, /*writes=*/false)) return false;
  }
  return all_channels_ || std::ranges::any_of(channels_, [&](const std::string& allowed) {
           return is_pattern ? allowed == channel : GlobMatches(allowed, channel);
         });
}

std::string AclSelector::CommandsText() const {
  std::string text = future_commands_ ? "+@all" : "-@all";
  for (const CommandRule& rule : rules_) text += (rule.allows ? " +" : " -") + rule.what;
  return text;
}

std::string AclSelector::KeysText() const {
  if (all_keys_) return "~*";
  std::string text;
  for (const KeyPattern& pattern : keys_) {
    const std::string sign = pattern.reads && pattern.writes ? "~" : pattern.reads ? "%R~" : "%W~";
    text += (text.empty() ? "" : " ") + sign + pattern.glob;
  }
  return text;
}

std::string AclSelector::ChannelsText() const {
  if (all_channels_) return "&*";
  std::string text;
  for (const std::string& channel : channels_) text += (text.empty() ? "&" : " &") + channel;
  return text;
}

std::string AclSelector::Text() const {
  const std::string channels = all_channels_ ? "&*" : Join("resetchannels", ChannelsText());
  return Join(Join(KeysText(), channels), CommandsText());
}

}  // namespace zsetd
