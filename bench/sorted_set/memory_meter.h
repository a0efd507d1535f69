#pragma once

#include <cstdint>

namespace zsetd::bench {

// The bytes that jemalloc reports for this process. Signed, because a difference may be negative.
struct MemoryUse {
  int64_t allocated = 0;  // allocated bytes, including rounding
  int64_t resident = 0;   // bytes in physical pages, after free pages were returned
};
MemoryUse MeasureMemory();

}  // namespace zsetd::bench
