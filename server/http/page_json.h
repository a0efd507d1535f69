#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zsetd {

// The body of a request of the page:
//
//   {"commands": [["ZRANGE", "k", "0", "9"], ["GET", {"hex": "ff00"}]]}
//
// A word is a string or, if it is not UTF-8, its bytes in hexadecimal. Nullopt if the body does not
// have that form, or has no command, an empty one, or too many (kMostPageCommands).
std::optional<std::vector<std::vector<std::string>>> ReadPageCommands(std::string_view body);

// The replies, each in RESP2, as {"replies": [...]}: strings as in a request, integers as numbers
// (as strings beyond 2^53), errors as {"error": "ERR ..."}, arrays, and null.
std::string PageRepliesJson(std::span<const std::string> replies);

// The name and the password of an Authorization header of the scheme Basic (RFC 7617).
struct Credentials {
  std::string user;
  std::string password;
};
std::optional<Credentials> ReadCredentials(std::string_view header);

}  // namespace zsetd
