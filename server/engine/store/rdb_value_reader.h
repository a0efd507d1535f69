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
// deadline. Reads every form that Redis and Valkey have had, except those of modules.
// O(bytes), for sorted sets O(n log n).
//
// Returns null and breaks the reader if the bytes are not sound, or hold an element twice that a
// value can have only once. Returns null and leaves the reader sound if the value has no elements.
// Fields of a hash whose deadlines are not after `now` are left out and do not count. Returns null
// and reads nothing if `type` is not readable.
std::unique_ptr<Entry> ReadValue(RdbReader& reader, RdbType type, std::string_view key,
                                 std::optional<Millis> deadline, Millis now,
                                 const ValueLimits& limits);

// Whether ReadValue() reads this format.
bool IsReadable(RdbType type);

}  // namespace zsetd
