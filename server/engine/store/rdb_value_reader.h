#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "core/keyspace/entry.h"
#include "core/util/time.h"
#include "protocol/rdb/rdb_reader.h"

namespace zsetd {

// The size limits of the compact encodings, as reported.
struct ValueLimits {
  ListLimits list;
  HashLimits hash;
  SetLimits set;
  SortedSetLimits sorted_set;
};

// Reads a value of the format `type`, from untrusted bytes, for an entry with this key and
// deadline. Null if the bytes are not sound, hold an element twice that can be there only once, or
// nothing at all. Reads every form that Redis has had, but for those of streams and of modules.
// O(bytes), for sorted sets O(n log n).
std::unique_ptr<Entry> ReadValue(RdbReader& reader, RdbType type, std::string_view key,
                                 std::optional<Millis> deadline, const ValueLimits& limits);

}  // namespace zsetd
