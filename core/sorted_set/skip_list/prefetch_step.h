#pragma once

namespace zsetd {

// What finding a member of a sorted set reads from memory, in this order; each part has the address
// of the next one.
enum class PrefetchStep { kIndex, kBlock, kElement };

}  // namespace zsetd
