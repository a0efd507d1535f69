#pragma once

#include "protocol/rdb/rdb_format.h"
#include "protocol/rdb/rdb_reader.h"
#include "server/persistence/snapshot/name_hashes.h"

namespace zsetd {

// Reads a value like ReadValue() (rdb_value_reader.h), but keeps only the hashes of the names of
// its elements. Clears `names` first and adds the hashes to it. Returns whether ReadValue() would
// return an entry if no element has expired. Leaves the reader in the same state as ReadValue().
//
// A result of false may be wrong if `names` has a duplicate. O(bytes), O(n log n) for n elements.
bool CheckValue(RdbReader& reader, RdbType type, NameHashes& names);

}  // namespace zsetd
