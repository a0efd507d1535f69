#pragma once

#include <cstddef>
#include <string_view>

#include "protocol/resp/args.h"

namespace zsetd {

// Returns the number of bytes of a length line such as "$12\r\n".
inline size_t LengthLineSize(size_t length) {
  size_t bytes = 4;  // with one digit
  for (; length >= 10; length /= 10) ++bytes;
  return bytes;
}

// Returns the number of bytes that AppendRequest() appends for these words. A received request of
// another size was inline, or had other bytes around it. O(words).
inline size_t EncodedSize(Args words) {
  size_t bytes = LengthLineSize(words.size());
  for (const std::string_view word : words) bytes += LengthLineSize(word.size()) + word.size() + 2;
  return bytes;
}

}  // namespace zsetd
