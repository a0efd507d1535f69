#pragma once

namespace zsetd {

// The parts of memory that finding a member of a sorted set reads, in this order. Each part holds
// the address of the next one.
enum class PrefetchStep { kIndex, kBlock, kElement };

}  // namespace zsetd
