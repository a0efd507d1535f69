#pragma once

#include <string_view>
#include <vector>

#include "protocol/resp/words.h"
#include "server/engine/command/command.h"

namespace zsetd {

// The arguments of a request, with "(redacted)" in place of those that may be passwords, for logs
// and monitors. Views into `words`.
std::vector<std::string_view> WithoutSecrets(const Command& command, Words words);

}  // namespace zsetd
