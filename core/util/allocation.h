#pragma once

#include <cstddef>
#include <string>

namespace zsetd {

// The bytes the allocator really set aside for `block`, its rounding included; 0 for null.
// Works for memory from malloc and new. O(1).
size_t AllocatedBytes(const void* block);

// The heap bytes behind `text`; 0 while it fits into the string object itself. O(1).
size_t AllocatedBytes(const std::string& text);

}  // namespace zsetd
