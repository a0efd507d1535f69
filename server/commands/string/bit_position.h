#pragma once

#include <cstdint>
#include <string_view>

#include "server/engine/call.h"

namespace zsetd {

// Takes the position of a bit in a string. A string is no longer than what a client may send at
// once, and so no position lies beyond (proto-max-bulk-len).
uint64_t TakeBitPosition(Call& call);

// The same, or "#2" for the third of fields of this width.
uint64_t TakeFieldPosition(Call& call, int field_bits);

}  // namespace zsetd
