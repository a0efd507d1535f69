#pragma once

#include <string>

#include "core/keyspace/entry.h"
#include "server/engine/call.h"

namespace zsetd {

// Returns the payload of DUMP and MIGRATE: the entry's value with the deadlines and payloads of its
// elements, in the oldest format that supports it. O(n).
std::string DumpedValue(Call& call, const Entry& entry);

}  // namespace zsetd
