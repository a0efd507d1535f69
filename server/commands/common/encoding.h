#pragma once

#include <string_view>

#include "core/keyspace/entry.h"
#include "server/engine/store/value_limits.h"

namespace zsetd {

// The name of the encoding that Redis would use for the value. Tools expect these names; they say
// nothing about how zsetd stores it.
std::string_view EncodingName(const Entry& entry);

}  // namespace zsetd
