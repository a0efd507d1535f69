#pragma once

#include "protocol/rdb/rdb_format.h"
#include "protocol/rdb/rdb_reader.h"
#include "server/persistence/snapshot/name_hashes.h"

namespace zsetd {

// Reads a value like ReadValue() (rdb_value_reader.h), but keeps only hashes of the names of its
// elements, in `names`, which is cleared first. Returns whether ReadValue() returns an entry if no
// element has expired. Leaves the reader at the same place, broken or sound like ReadValue().
//
// False may be a mistake if `names` has a duplicate. O(bytes), O(n log n) for n elements.
bool CheckValue(RdbReader& reader, RdbType type, NameHashes& names);

}  // namespace zsetd
