#pragma once

#include <variant>

#include "core/string/byte_string.h"

namespace zsetd {

class Hash;
class List;
class Set;
class SortedSet;
class Stream;

// A value that is about to be stored in a keyspace. It views the bytes of a string, which are
// copied on insertion. Code that constructs a Value includes core/keyspace/value.h; code that reads
// a key's value includes the header of its type.
using Value = std::variant<ByteString, List, Hash, Set, SortedSet, Stream>;

}  // namespace zsetd
