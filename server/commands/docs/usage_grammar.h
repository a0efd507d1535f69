#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "server/commands/docs/usage_argument.h"

namespace zsetd {

// Reads a row's usage:
//
//   member                  an argument; its type follows from its name
//   WITHSCORES              a token
//   LIMIT offset count      a token before an argument or several
//   [NX]                    what may be left out
//   ""                      an empty argument
//   <LEFT|RIGHT>            one of several
//   [NX|XX]                 one or none of them
//   key [key ...]           what may be repeated
//   GET name [GET name ...] the same with its token
//
// Nullopt if it cannot be parsed.
std::optional<std::vector<Argument>> ParseUsage(std::string_view usage);

}  // namespace zsetd
