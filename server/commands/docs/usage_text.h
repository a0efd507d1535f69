#pragma once

#include <string>
#include <vector>

#include "server/commands/docs/usage_grammar.h"

namespace zsetd {

// Writes arguments as ParseUsage() reads them.
std::string UsageText(const std::vector<Argument>& arguments);

}  // namespace zsetd
