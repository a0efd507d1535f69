#pragma once

#include <string_view>
#include <vector>

#include "protocol/resp/words.h"
#include "server/engine/command/command.h"

namespace zsetd {

// The words of a request with "(redacted)" in the place of those that may be passwords: as they may
// be told to others. Views into `words`.
std::vector<std::string_view> WithoutSecrets(const Command& command, Words words);

}  // namespace zsetd
