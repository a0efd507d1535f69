#pragma once

#include "core/keyspace/entry.h"
#include "protocol/rdb/rdb_writer.h"

namespace zsetd {

// The layout in which an entry's value is written: a packed one of what is small. Redis 7.0 reads
// all of them. O(1).
RdbType RdbTypeOf(const Entry& entry);

// Writes the value in that layout, without its type byte. Deadlines of elements are left out. O(n).
void WriteValue(const Entry& entry, RdbWriter& writer);

// Writes the type byte and the value, with the deadlines of its elements: in a layout that only
// zsetd reads if there are any. O(n).
void WriteDump(const Entry& entry, RdbWriter& writer);

}  // namespace zsetd
