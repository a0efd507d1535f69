#pragma once

#include <cstdint>

namespace zsetd::bench {

// What jemalloc says of this process, in bytes. Signed, for there may be less than before.
struct MemoryUse {
  int64_t allocated = 0;  // handed out, its rounding included
  int64_t resident = 0;   // in physical pages, after it gave back the free ones
};
MemoryUse MeasureMemory();

}  // namespace zsetd::bench
