#pragma once

#include <string>

#include "core/keyspace/entry.h"
#include "server/engine/call.h"

namespace zsetd {

// The payload of DUMP and MIGRATE: the entry's value with the deadlines of its elements, in the
// oldest format that has them. O(n).
std::string DumpedValue(Call& call, const Entry& entry);

}  // namespace zsetd
