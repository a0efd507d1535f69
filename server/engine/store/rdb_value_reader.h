#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "core/keyspace/entry.h"
#include "core/util/time.h"
#include "protocol/rdb/rdb_reader.h"
#include "server/engine/store/value_limits.h"

namespace zsetd {

// Reads a value of the format `type`, from untrusted bytes, for an entry with this key and
// deadline. Null if the bytes are not sound, hold an element twice that can be there only once, or
// nothing at all. Reads every form that Redis and Valkey have had, but for those of streams and of
// modules. O(bytes), for sorted sets O(n log n).
//
// Of a hash whose fields have deadlines it reads those fields whose deadlines are after `now`; if
// no field is left it returns null, and the reader is still sound.
std::unique_ptr<Entry> ReadValue(RdbReader& reader, RdbType type, std::string_view key,
                                 std::optional<Millis> deadline, Millis now,
                                 const ValueLimits& limits);

}  // namespace zsetd
