#pragma once

#include "core/keyspace/value.h"

namespace zsetd {

struct Settings;

// Up to which sizes values have the encodings of small ones (OBJECT ENCODING), and the sizes of a
// stream's blocks.
struct ValueLimits {
  ListLimits list;
  HashLimits hash;
  SetLimits set;
  SortedSetLimits sorted_set;
  StreamLimits stream;
};

// The limits by the present settings.
ValueLimits ValueLimitsOf(const Settings& settings);

}  // namespace zsetd
