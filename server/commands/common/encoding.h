#pragma once

#include <string_view>

#include "core/keyspace/entry.h"
#include "server/engine/config/settings.h"
#include "server/engine/store/rdb_value_reader.h"

namespace zsetd {

// The name of the encoding that Redis would use for the value. Tools expect these names; they say
// nothing about how zsetd stores it.
std::string_view EncodingName(const Entry& entry);

// The limits of these encodings, from the current settings.
ListLimits ListLimitsOf(const Settings& settings);
SortedSetLimits SortedSetLimitsOf(const Settings& settings);
HashLimits HashLimitsOf(const Settings& settings);
SetLimits SetLimitsOf(const Settings& settings);
ValueLimits ValueLimitsOf(const Settings& settings);

}  // namespace zsetd
