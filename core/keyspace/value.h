#pragma once

// Value and its alternative types.

#include "core/hash/hash.h"
#include "core/keyspace/value_types.h"
#include "core/list/list.h"
#include "core/set/set.h"
#include "core/sorted_set/sorted_set.h"
#include "core/stream/stream.h"
#include "core/string/byte_string.h"
