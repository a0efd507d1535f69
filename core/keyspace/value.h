#pragma once

#include <variant>

#include "core/hash/hash.h"
#include "core/list/list.h"
#include "core/set/set.h"
#include "core/sorted_set/sorted_set.h"
#include "core/string/byte_string.h"

namespace zsetd {

// What a key is to hold, on its way into a keyspace. A string's bytes stay where they are and are
// copied there.
using Value = std::variant<ByteString, List, Hash, Set, SortedSet>;

}  // namespace zsetd
