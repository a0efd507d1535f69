#pragma once

#include <cstddef>
#include <cstring>

namespace zsetd {

// Copies bytes of a length that is known at run time; both ranges may overlap. memmove is always a
// call, but g++ 12 turns memcpy of a length known to fit a byte into `rep movs`, which is slow to
// start. `from` may be null if there are no bytes, which memmove does not allow.
inline void CopyBytes(void* to, const void* from, size_t bytes) {
  if (bytes > 0) std::memmove(to, from, bytes);
}

}  // namespace zsetd
