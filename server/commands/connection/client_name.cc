#include "server/commands/connection/client_name.h"

#include <algorithm>

namespace zsetd {

bool IsClientName(std::string_view name) {
  return std::ranges::all_of(name, [](char byte) { return byte >= '!' && byte <= '~'; });
}

}  // namespace zsetd
