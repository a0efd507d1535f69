#pragma once

#include <cstddef>
#include <cstring>

namespace zsetd {

// Copies bytes of a length that is only known at run time. The ranges may overlap. Uses memmove,
// which is always a call: g++ 12 compiles a memcpy whose length fits a byte to `rep movs`, which
// starts slowly. Unlike for memmove, `from` may be null if `bytes` is 0.
inline void CopyBytes(void* to, const void* from, size_t bytes) {
  if (bytes > 0) std::memmove(to, from, bytes);
}

}  // namespace zsetd
