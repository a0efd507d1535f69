#include "server/commands/docs/usage_argument.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace zsetd {
namespace {

using Type = Argument::Type;

constexpr std::pair<std::string_view, Type> kTypes[] = {
    {"client-id", Type::kInteger},
    {"count", Type::kInteger},
    {"cursor", Type::kInteger},
    {"db", Type::kInteger},
    {"decrement", Type::kInteger},
    {"destination", Type::kKey},
    {"destination-db", Type::kInteger},
    {"end", Type::kInteger},
    {"increment", Type::kDouble},
    {"index", Type::kInteger},
    {"index1", Type::kInteger},
    {"index2", Type::kInteger},
    {"key", Type::kKey},
    {"len", Type::kInteger},
    {"limit", Type::kInteger},
    {"milliseconds", Type::kInteger},
    {"newkey", Type::kKey},
    {"numkeys", Type::kInteger},
    {"offset", Type::kInteger},
    {"pattern", Type::kPattern},
    {"port", Type::kInteger},
    {"protover", Type::kInteger},
    {"rank", Type::kInteger},
    {"score", Type::kDouble},
    {"seconds", Type::kInteger},
    {"source", Type::kKey},
    {"unix-time-milliseconds", Type::kUnixTime},
    {"unix-time-seconds", Type::kUnixTime},
    {"weight", Type::kDouble},
};

std::string JoinedNames(const Arguments& arguments) {
  std::string names;
  for (const Argument& argument : arguments) names += (names.empty() ? "" : "_") + argument.name;
  return names;
}

}  // namespace

Argument::Type UsualTypeOf(std::string_view name) {
  const auto found = std::ranges::find(kTypes, name, &std::pair<std::string_view, Type>::first);
  return found == std::end(kTypes) ? Type::kString : found->second;
}

Argument Grouped(Type type, Arguments arguments) {
  if (arguments.size() == 1) return std::move(arguments.front());
  Argument group;
  group.name = JoinedNames(arguments);
  group.type = type;
  group.arguments = std::move(arguments);
  return group;
}

bool Repeat(Arguments& arguments, const Arguments& repeated) {
  const size_t count = repeated.size();
  if (count == 0 || count > arguments.size()) return false;
  const auto start = arguments.end() - static_cast<std::ptrdiff_t>(count);
  if (!std::equal(start, arguments.end(), repeated.begin())) return false;
  Argument whole = Grouped(Type::kBlock, Arguments(start, arguments.end()));
  whole.multiple = true;
  whole.multiple_token = !whole.token.empty();
  arguments.erase(start, arguments.end());
  arguments.push_back(std::move(whole));
  return true;
}

}  // namespace zsetd
