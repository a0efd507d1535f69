#include "server/engine/propagation/own_effects.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "protocol/resp/request_parser.h"
#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

constexpr std::string_view kMark("\0zsetd", 6);

void AppendLine(std::string& out, char type, size_t number) {
  out += type;
  out += std::to_string(number);
  out += "\r\n";
}

}  // namespace

std::string WrapOwnEffect(Args request) {
  std::string wrapped(kMark);
  AppendLine(wrapped, '*', request.size());
  for (const std::string_view word : request) {
    AppendLine(wrapped, '$', word.size());
    wrapped += word;
    wrapped += "\r\n";
  }
  return wrapped;
}

bool IsOwnEffect(Args request) {
  return request.size() == 2 && EqualsIgnoringCase(request[0], "echo") &&
         request[1].starts_with(kMark);
}

std::optional<OwnedArgs> UnwrapOwnEffect(Args request) {
  std::string_view bytes = request[1].substr(kMark.size());
  if (!bytes.starts_with('*')) return std::nullopt;
  RequestParser parser({.max_bulk_bytes = bytes.size()});
  while (!bytes.empty()) {
    const std::span<char> space = parser.Space();
    const size_t count = std::min(space.size(), bytes.size());
    bytes.copy(space.data(), count);
    parser.Arrived(count);
    bytes.remove_prefix(count);
  }
  const bool is_request = parser.Next() == RequestParser::Result::kRequest;
  if (!is_request || parser.buffered_bytes() > 0 || IsOwnEffect(parser.argv())) return std::nullopt;
  return OwnedArgs(parser.argv());
}

}  // namespace zsetd
