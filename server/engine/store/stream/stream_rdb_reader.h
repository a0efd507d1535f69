#pragma once

#include <optional>

#include "core/stream/stream.h"
#include "protocol/rdb/rdb_reader.h"

namespace zsetd {

// Reads a stream of a format RdbType::kStream to kStream5 from untrusted bytes. Returns nullopt if
// the bytes are not sound: IDs that do not ascend, counts that disagree with the elements, pending
// entries without a consumer or with several. Memory is bounded by the bytes that exist. The times
// at which consumers were active last (from kStream3 on) are not kept. O(bytes).
std::optional<Stream> ReadRdbStream(RdbReader& reader, RdbType type, const StreamLimits& limits);

}  // namespace zsetd
