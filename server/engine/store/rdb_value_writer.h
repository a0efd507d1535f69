#pragma once

#include <cstdint>

#include "core/keyspace/entry.h"
#include "protocol/rdb/rdb_writer.h"

namespace zsetd {

// The layout in which an entry's value is written: a packed one for small values. Redis 7.0 reads
// all of them; deadlines of elements are omitted. O(1).
RdbType RdbTypeOf(const Entry& entry);

// Writes the value in that layout, without its type byte. O(n).
void WriteValue(const Entry& entry, RdbWriter& writer);

// Like the function above, with the deadlines of fields, which Redis 7.4 reads.
bool HasFieldDeadlines(const Entry& entry);
void WriteFieldsWithDeadlines(const Entry& entry, RdbWriter& writer);  // of kHashDeadlines

// Writes the type byte and the value, with the deadlines and payloads of its elements: those of
// members in a layout that only zsetd reads. The IDs of a stream's producers are written in the
// layout of Redis 8.6. O(n).
void WriteDump(const Entry& entry, RdbWriter& writer);

// The RDB version of the layout in which WriteDump() writes the value. O(1).
uint16_t DumpVersion(const Entry& entry);

}  // namespace zsetd
