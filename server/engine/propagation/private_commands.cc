#include "server/engine/propagation/private_commands.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <string_view>

#include "protocol/resp/request_parser.h"
#include "protocol/resp/request_writer.h"
#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

constexpr std::string_view kMark("\0zsetd", 6);
constexpr char kReplaces = '!';

}  // namespace

std::string WrapPrivateCommand(Args request) { return std::string(kMark) + EncodeRequest(request); }

std::string WrapReplacement(Args request) {
  return std::string(kMark) + kReplaces + EncodeRequest(request);
}

bool IsPrivateCommand(Args request) {
  return request.size() == 2 && EqualsIgnoringCase(request[0], "echo") &&
         request[1].starts_with(kMark);
}

bool IsReplacement(Args request) {
  return IsPrivateCommand(request) && request[1].substr(kMark.size()).starts_with(kReplaces);
}

std::optional<OwnedArgs> UnwrapPrivateCommand(Args request) {
  assert(IsPrivateCommand(request));
  std::string_view bytes = request[1].substr(kMark.size());
  if (bytes.starts_with(kReplaces)) bytes.remove_prefix(1);
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
  if (!is_request || parser.buffered_bytes() > 0 || IsPrivateCommand(parser.argv()))
    return std::nullopt;
  return OwnedArgs(parser.argv());
}

}  // namespace zsetd
