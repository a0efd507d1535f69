#pragma once

#include <cstddef>

#include "core/stream/stream.h"
#include "protocol/rdb/rdb_writer.h"

namespace zsetd {

// Write a stream in the layout RdbType::kStream2, which Redis 7.0 reads: the number of blocks, the
// blocks, and the tail. A block is the ID of its first entry and a listpack.

// Writes the entries that are not deleted. O(bytes).
void WriteStreamBlock(const StreamBlock& block, RdbWriter& writer);

// Writes the state and the groups. `first` is 0-0 without entries. The layout has no entries
// without a consumer: released entries become those of the empty consumer, with time 0, and lose
// their order. O(pending entries).
//
// RdbType::kStream3 and later types have Consumer::active. kStream2 loses it, and is read as if it
// were Consumer::seen.
void WriteStreamTail(size_t length, StreamId first, const StreamState& state,
                     const ConsumerGroups& groups, RdbWriter& writer,
                     RdbType type = RdbType::kStream2);

}  // namespace zsetd
