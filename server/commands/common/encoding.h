#pragma once

#include <string_view>

#include "core/keyspace/entry.h"
#include "server/engine/config/settings.h"
#include "server/engine/store/rdb_value_reader.h"

namespace zsetd {

// The name that Redis has for the way it would keep such a value. Tools expect these words; how
// zsetd keeps it is another matter.
std::string_view EncodingName(const Entry& entry);

// How long values keep such encodings, by the settings of the moment.
ListLimits ListLimitsOf(const Settings& settings);
SortedSetLimits SortedSetLimitsOf(const Settings& settings);
HashLimits HashLimitsOf(const Settings& settings);
SetLimits SetLimitsOf(const Settings& settings);
ValueLimits ValueLimitsOf(const Settings& settings);

}  // namespace zsetd
