#pragma once

#include <algorithm>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/resp/request_parser.h"

namespace zsetd {

using Request = std::vector<std::string>;

// Collects all results of a parser for some bytes.
struct Parsed {
  std::vector<Request> requests;
  std::string error;

  bool operator==(const Parsed&) const = default;
};

// Copies all of `bytes` to the place where the next read from a socket would store them.
inline void Feed(RequestParser& parser, std::string_view bytes) {
  while (!bytes.empty()) {
    const std::span<char> space = parser.Space();
    const size_t count = std::min(space.size(), bytes.size());
    std::copy_n(bytes.data(), count, space.data());
    parser.Arrived(count);
    bytes.remove_prefix(count);
  }
}

inline void TakeAll(RequestParser& parser, Parsed& parsed) {
  auto result = parser.Next();
  for (; result == RequestParser::Result::kRequest; result = parser.Next()) {
    parsed.requests.emplace_back(parser.argv().begin(), parser.argv().end());
  }
  const bool broken = result == RequestParser::Result::kBroken;
  parsed.error = broken ? parser.error() : std::string_view();
}

inline Parsed Parse(std::initializer_list<std::string_view> pieces, RequestLimits limits = {}) {
  RequestParser parser(limits);
  Parsed parsed;
  for (std::string_view piece : pieces) {
    Feed(parser, piece);
    TakeAll(parser, parsed);
  }
  return parsed;
}

inline std::string Multibulk(const Request& request) {
  std::string bytes = "*" + std::to_string(request.size()) + "\r\n";
  for (const std::string& word : request) {
    bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  }
  return bytes;
}

}  // namespace zsetd
