#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zsetd {

// Reads the body of a request of the page:
//
//   {"commands": [["ZRANGE", "k", "0", "9"], ["GET", {"hex": "ff00"}]]}
//
// A word is a string or, if it is not UTF-8, its bytes in hexadecimal. Returns nullopt if the body
// does not have this form, has no commands, has an empty command, or has more than
// kMostPageCommands.
std::optional<std::vector<std::vector<std::string>>> ReadPageCommands(std::string_view body);

// Formats the replies, each in RESP2, as {"replies": [...]}. Strings are written as in a request.
// Integers become numbers, or strings beyond 2^53. Errors become {"error": "ERR ..."}. Arrays and
// null stay.
std::string PageRepliesJson(std::span<const std::string> replies);

// The user name and the password of a Basic Authorization header (RFC 7617).
struct Credentials {
  std::string user;
  std::string password;
};
std::optional<Credentials> ReadCredentials(std::string_view header);

}  // namespace zsetd
