#pragma once

#include <optional>
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
    kPureToken,  // nothing but its token
    kOneOf,      // of its arguments
    kBlock,      // of all its arguments in order
  };

  std::string name;
  Type type = Type::kString;
  std::string token;  // the word that it is or that stands before it, in upper case
  bool optional = false;
  bool multiple = false;        // may be repeated
  bool multiple_token = false;  // then the token is repeated too
  std::vector<Argument> arguments;

  bool operator==(const Argument&) const = default;
};

// Reads a row's usage:
//
//   member                  an argument; its type follows from its name
//   WITHSCORES              a token
//   LIMIT offset count      a token before an argument or several
//   [NX]                    what may be left out
//   <LEFT|RIGHT>            one of several
//   [NX|XX]                 one or none of them
//   key [key ...]           what may be repeated
//   GET name [GET name ...] the same with its token
//
// Nothing if it cannot be read.
std::optional<std::vector<Argument>> ParseUsage(std::string_view usage);

}  // namespace zsetd
