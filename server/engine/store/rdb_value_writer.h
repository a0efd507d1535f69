#pragma once

#include "core/keyspace/entry.h"
#include "protocol/rdb/rdb_writer.h"

namespace zsetd {

// The layout in which an entry's value is written: a packed one of what is small. Redis 7.0 reads
// all of them. O(1).
RdbType RdbTypeOf(const Entry& entry);

// Writes the value in that layout, without its type byte. O(n).
void WriteValue(const Entry& entry, RdbWriter& writer);

}  // namespace zsetd
