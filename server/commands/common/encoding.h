#pragma once

#include <string_view>

#include "core/keyspace/entry.h"

namespace zsetd {

// Returns the name of the encoding that Redis would use for the value. Tools expect these names;
// they do not describe how zsetd stores the value.
std::string_view EncodingName(const Entry& entry);

}  // namespace zsetd
