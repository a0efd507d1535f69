#include "server/commands/docs/usage_text.h"

#include <string_view>

namespace zsetd {
namespace {

using Type = Argument::Type;

std::string Text(const Argument& argument);

std::string Joined(const std::vector<Argument>& arguments, std::string_view between) {
  std::string text;
  for (const Argument& argument : arguments) {
    if (!text.empty()) text += between;
    text += Text(argument);
  }
  return text;
}

// Returns the text of the argument without its preceding token and its repetition.
std::string Body(const Argument& argument) {
  switch (argument.type) {
    case Type::kPureToken:
      return argument.token;
    case Type::kOneOf:
      return "<" + Joined(argument.arguments, "|") + ">";
    case Type::kBlock:
      return Joined(argument.arguments, " ");
    default:
      return argument.name;
  }
}

std::string Text(const Argument& argument) {
  const bool introduced = !argument.token.empty() && argument.type != Type::kPureToken;
  const std::string body = Body(argument);
  const std::string once = introduced ? argument.token + " " + body : body;
  if (argument.multiple) {
    const std::string again = " [" + (argument.multiple_token ? once : body) + " ...]";
    return argument.optional ? "[" + once + again + "]" : once + again;
  }
  if (!argument.optional) return once;
  const bool bare_choice = argument.type == Type::kOneOf && !introduced;
  return "[" + (bare_choice ? once.substr(1, once.size() - 2) : once) + "]";
}

}  // namespace

std::string UsageText(const std::vector<Argument>& arguments) { return Joined(arguments, " "); }

}  // namespace zsetd
