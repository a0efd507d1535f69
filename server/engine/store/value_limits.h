#pragma once

#include "core/keyspace/value.h"
#include "server/engine/store/value_limits.h"

namespace zsetd {

struct Settings;

// Up to which sizes values have the encodings of small ones (OBJECT ENCODING).
struct ValueLimits {
  ListLimits list;
  HashLimits hash;
  SetLimits set;
  SortedSetLimits sorted_set;
};

// How long values keep such encodings, by the settings of the moment.
ListLimits ListLimitsOf(const Settings& settings);
SortedSetLimits SortedSetLimitsOf(const Settings& settings);
HashLimits HashLimitsOf(const Settings& settings);
SetLimits SetLimitsOf(const Settings& settings);
ValueLimits ValueLimitsOf(const Settings& settings);

}  // namespace zsetd
