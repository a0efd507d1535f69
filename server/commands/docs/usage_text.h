#pragma once

#include <string>
#include <vector>

#include "server/commands/docs/usage_grammar.h"

namespace zsetd {

// Writes arguments in the syntax that ParseUsage() reads.
std::string UsageText(const std::vector<Argument>& arguments);

}  // namespace zsetd
