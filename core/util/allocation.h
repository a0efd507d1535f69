#pragma once

#include <cstddef>
#include <string>

namespace zsetd {

// The number of bytes that the allocator uses for `block`, including its rounding; 0 for null.
// Works for memory from malloc and new. O(1).
size_t AllocatedBytes(const void* block);

// The heap bytes of `text`; 0 if it fits into the string object itself. O(1).
size_t AllocatedBytes(const std::string& text);

}  // namespace zsetd
