#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace zsetd {

// One argument of a command, or several that belong together.
struct Argument {
  enum class Type {
    kString,
    kInteger,
    kDouble,
    kKey,
    kPattern,
    kUnixTime,
    kPureToken,  // only its token
    kOneOf,      // of its arguments
    kBlock,      // of all its arguments in order
  };

  std::string name;
  Type type = Type::kString;
  std::string token;  // the word that it is or that precedes it, in upper case
  bool optional = false;
  bool multiple = false;        // may be repeated
  bool multiple_token = false;  // then the token is repeated too
  std::vector<Argument> arguments;

  bool operator==(const Argument&) const = default;
};

using Arguments = std::vector<Argument>;

// The type that arguments of this name have.
Argument::Type UsualTypeOf(std::string_view name);

// Several arguments as one of that type, which is kOneOf or kBlock; the one itself if it is alone.
Argument Grouped(Argument::Type type, Arguments arguments);

// Whether the last of `arguments` are the repeated ones; these then become one that may be.
bool Repeat(Arguments& arguments, const Arguments& repeated);

}  // namespace zsetd
