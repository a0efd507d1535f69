#pragma once

#include <cstddef>

namespace zsetd::bench {

// What jemalloc says of this process.
struct MemoryUse {
  size_t allocated = 0;  // handed out, its rounding included
  size_t resident = 0;   // in physical pages, after it gave back the free ones
};
MemoryUse MeasureMemory();

}  // namespace zsetd::bench
