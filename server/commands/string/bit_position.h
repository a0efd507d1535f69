#pragma once

#include <cstdint>
#include <string_view>

#include "server/engine/call.h"

namespace zsetd {

// Takes the position of a bit in a string. A string is at most as long as one argument
// (proto-max-bulk-len), which bounds the position.
uint64_t TakeBitPosition(Call& call);

// Like the function above, but also accepts "#2" for the third of fields of this width.
uint64_t TakeFieldPosition(Call& call, int field_bits);

}  // namespace zsetd
