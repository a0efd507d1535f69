// The rules of a selector that are about commands.

#include <algorithm>

#include "server/engine/acl/acl_selector.h"
#include "server/engine/command/command_categories.h"
#include "server/engine/command/foreign_commands.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr std::string_view kUnknown = "Unknown command or category name in ACL";
constexpr std::string_view kSyntax = "Syntax error";
constexpr std::string_view kTooDeep = "Allowing first-arg of a subcommand is not supported";

}  // namespace

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
  if (command == nullptr) return Refusal(kUnknown);
  SetWithSubcommands(*command, allow);
  Remember(what, allow);
  return absl::OkStatus();
}

// Of a command without subcommands one may be let in by its first argument: "select|0". An argument
// with a space or a line break could not be written to a file: it would come back as other rules.
absl::Status AclSelector::AllowFirstArgument(std::string_view name, std::string_view argument) {
  const Command* command = commands_->FindOriginal(name);
  if (command == nullptr && FindForeignCommand(name) == nullptr) return Refusal(kUnknown);
  if (name.find('|') != std::string_view::npos) return Refusal(kTooDeep);
  if (argument.empty() || HasSpaces(argument)) return Refusal(kSyntax);
  if (command != nullptr) {
    if (!commands_->SubcommandsOf(*command).empty()) return Refusal(kUnknown);
    std::vector<std::string>& arguments = first_arguments_[command];
    if (std::ranges::count(arguments, argument) == 0) arguments.emplace_back(argument);
  }
  Remember(std::string(name) + "|" + std::string(argument), true);
  return absl::OkStatus();
}

absl::Status AclSelector::ApplyCategory(std::string_view category, bool allow) {
  if (!FindCategory(category.substr(1))) return Refusal(kUnknown);
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

bool AclSelector::AllowsCommand(const Command& command, Args argv) const {
  if (all_commands_ || command.Has(kNoAuth) || allowed_[commands_->IndexOf(command)]) return true;
  const auto arguments = first_arguments_.find(&command);
  if (arguments == first_arguments_.end() || argv.size() < 2) return false;
  return std::ranges::any_of(arguments->second, [&](const std::string& allowed) {
    return EqualsIgnoringCase(allowed, argv[1]);
  });
}

std::string AclSelector::CommandsText() const {
  std::string text = future_commands_ ? "+@all" : "-@all";
  for (const CommandRule& rule : rules_) text += (rule.allows ? " +" : " -") + rule.what;
  return text;
}

}  // namespace zsetd
