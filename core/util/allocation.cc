#include "core/util/allocation.h"

#include <malloc.h>

#include <functional>

namespace zsetd {

size_t AllocatedBytes(const void* block) {
  return block == nullptr ? 0 : malloc_usable_size(const_cast<void*>(block));
}

size_t AllocatedBytes(const std::string& text) {
  const char* object = reinterpret_cast<const char*>(&text);
  const bool inside = std::greater_equal<>()(text.data(), object) &&
                      std::less<>()(text.data(), object + sizeof(text));
  return inside ? 0 : AllocatedBytes(text.data());
}

}  // namespace zsetd
