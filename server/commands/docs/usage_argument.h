#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace zsetd {

// One argument of a command, or a group of arguments.
struct Argument {
  enum class Type {
    kString,
    kInteger,
    kDouble,
    kKey,
    kPattern,
    kUnixTime,
    kPureToken,  // only its token
    kOneOf,      // one of its arguments
    kBlock,      // all its arguments in order
  };

  std::string name;
  Type type = Type::kString;
  std::string token;  // the word that it is, or that precedes it, in upper case
  bool optional = false;
  bool multiple = false;        // may be repeated
  bool multiple_token = false;  // the token is repeated with it
  std::vector<Argument> arguments;

  bool operator==(const Argument&) const = default;
};

using Arguments = std::vector<Argument>;

// Returns the usual type of an argument with this name.
Argument::Type UsualTypeOf(std::string_view name);

// Returns a group of this type, which is kOneOf or kBlock. A single argument is returned unchanged.
Argument Grouped(Argument::Type type, Arguments arguments);

// If `arguments` ends with `repeated`, merges these into one argument that may be repeated. Returns
// whether it did.
bool Repeat(Arguments& arguments, const Arguments& repeated);

}  // namespace zsetd
