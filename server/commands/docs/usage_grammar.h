#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "server/commands/docs/usage_argument.h"

namespace zsetd {

// Parses the usage of a row:
//
//   member                  an argument; its name determines its type
//   WITHSCORES              a token
//   LIMIT offset count      a token before one or more arguments
//   [NX]                    optional
//   ""                      an empty argument
//   <LEFT|RIGHT>            one of several
//   [NX|XX]                 one of several, or none
//   key [key ...]           may be repeated
//   GET name [GET name ...] may be repeated with its token
//
// Returns nullopt if it cannot be parsed.
std::optional<std::vector<Argument>> ParseUsage(std::string_view usage);

}  // namespace zsetd
