#pragma once

#include <cstdint>

namespace zsetd::bench {

// The bytes that jemalloc reports for this process. Signed, because a difference may be negative.
struct MemoryUse {
  int64_t allocated = 0;  // handed out, its rounding included
  int64_t resident = 0;   // in physical pages, after it gave back the free ones
};
MemoryUse MeasureMemory();

}  // namespace zsetd::bench
