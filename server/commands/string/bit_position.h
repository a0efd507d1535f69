#pragma once

#include <cstdint>
#include <string_view>

#include "server/engine/call.h"

namespace zsetd {

// Takes the position of a bit in a string. The maximum length of an argument (proto-max-bulk-len)
// is also that of a string, and bounds the position.
uint64_t TakeBitPosition(Call& call);

// Like `TakeBitPosition()`, but also accepts "#2" for the third field of this width.
uint64_t TakeFieldPosition(Call& call, int field_bits);

}  // namespace zsetd
