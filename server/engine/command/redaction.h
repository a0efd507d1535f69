#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "protocol/resp/args.h"
#include "server/engine/command/command.h"

namespace zsetd {

// The arguments of a request, with "(redacted)" in place of those that its row marks as secret, for
// logs and monitors. Views into `argv`. O(words).
std::vector<std::string_view> WithoutSecrets(const Command& command, Args argv);

// For rows (Command::secrets) all of whose arguments from position `first` on are secret.
std::vector<size_t> PositionsFrom(size_t first, Args argv);
template <size_t first>
std::vector<size_t> AllSecretFrom(Args argv) {
  return PositionsFrom(first, argv);
}

}  // namespace zsetd
