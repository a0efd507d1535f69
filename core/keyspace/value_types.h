#pragma once

#include <variant>

#include "core/string/byte_string.h"

namespace zsetd {

class Hash;
class List;
class Set;
class SortedSet;

// What a key is to hold, on its way into a keyspace. A string's bytes stay where they are and are
// copied there. Whoever makes one needs core/keyspace/value.h; whoever has a key's value in hand
// needs the header of its type.
using Value = std::variant<ByteString, List, Hash, Set, SortedSet>;

}  // namespace zsetd
