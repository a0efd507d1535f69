#pragma once

namespace zsetd {

// What finding a member of a sorted set reads from memory, in this order; each part tells where the
// next one is.
enum class PrefetchStep { kIndex, kBlock, kElement };

}  // namespace zsetd
